# SPDX-License-Identifier: Apache-2.0
"""How a training stands: its log, and held-out skills answered greedily by the product.

    python -m tools.train.status DIR [--daybreak BINARY] [--samples 20] [--show 2]

Without --daybreak only the log is read. With it the newest checkpoint is exported to a temporary directory and
asked `samples` held-out conversations of every skill (about pictures the training's own model is asked); the share that is right and the share that is well-formed are
printed, and `show` wrong answers of each skill.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import jax
import jax.numpy as jnp
import numpy as np

from ..nano_tokenizer import END_OF_MSG, MEDIA_PAD
from . import data_judge, data_mix, data_pictures, export, model, state, vision
from .data_dice import HELD_OUT
from .data_render import Renderer, flat
from .data_stream import PATCH, SKILLS

MAX_TOKENS = 400
PICTURE_ROW = 256  # tokens of a question about a picture and its answer


def print_log(directory):
    lines = (directory / "log.jsonl").read_text(encoding="utf-8").splitlines()
    last = json.loads(lines[-1])
    print(
        f"step {last['step']}, {last['tokens'] / 1e6:.1f} M tokens, {last['learnt'] / 1e6:.1f} M learnt, {last['hours']:.2f} h, {last['tokens_per_second']} tokens/s, rate {last['rate']}"
    )
    print(
        f"loss {last['loss']}, right {last['right']:.1%}, gradient norm {last['norm']}, largest expert load {last['load']}"
    )
    for skill, (loss, right) in last["skills"].items():
        print(f"  {skill:12} loss {loss:.3f}  next token right {right:.1%}")


def held_out(skill, count):
    """The first `count` held-out conversations of a skill that end with an answer to judge."""
    found, number = [], 0
    while len(found) < count:
        sample = data_mix.sample(HELD_OUT, number, pictures=skill == "pictures")
        number += 1
        if sample.skill == skill:
            found.append(sample)
    return found


def picture_answers(loaded, samples):
    """Greedy continuations by the training's own model, all samples side by side."""
    config, vision_config = loaded.config(), loaded.config_value["vision_config"]
    renderer = Renderer(loaded.tokenizer())
    prompts = [flat(renderer.prompt(s))[0] for s in samples]
    length = PICTURE_ROW
    ids = np.zeros((len(prompts), length), np.int32)
    for row, prompt in zip(ids, prompts):
        row[: len(prompt)] = prompt
    pad = renderer.tokenizer.special(MEDIA_PAD)
    pads = np.flatnonzero(ids == pad)
    pixels = np.stack([vision.patches(data_pictures.draw(s.expect["pictures"][0]), PATCH) for s in samples])
    params, biases = loaded.export_params(), loaded.export_biases()
    side = data_pictures.SIZE // PATCH
    values = vision.features(params, vision_config, pixels, side, side).reshape(len(pads), -1)

    @jax.jit
    def following(ids, ends):
        states, _ = model.hidden(params, biases, ids, jnp.zeros_like(ids), config, features=(pads, values))
        last = jnp.take_along_axis(states, ends[:, None, None] - 1, axis=1)[:, 0]
        return (last @ params["lm_head.weight"].T).argmax(axis=-1)

    ends, stop = np.array([len(p) for p in prompts]), renderer.tokenizer.special(END_OF_MSG)
    open_rows = np.ones(len(prompts), bool)
    while open_rows.any() and ends.max() < length:
        chosen = np.asarray(following(ids, ends))
        for row in np.flatnonzero(open_rows):
            ids[row, ends[row]] = chosen[row]
            ends[row] += 1
            open_rows[row] = chosen[row] != stop
    return [row[len(p) : e].tolist() for row, p, e in zip(ids, prompts, ends)]


def answer(binary, model, ids):
    """The product's greedy continuation."""
    command = [
        binary,
        "generate",
        model,
        "--ids",
        ",".join(map(str, ids)),
        "--max-tokens",
        MAX_TOKENS,
        "--threads",
        1,
        "--json",
    ]
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)["ids"]


def print_scores(loaded, options):
    tokenizer = loaded.tokenizer()
    renderer = Renderer(tokenizer)
    with tempfile.TemporaryDirectory() as model_directory:
        export.write(model_directory, loaded.export_params(), loaded.export_biases(), loaded.config_value, tokenizer)
        for skill in SKILLS:
            if skill == "pictures" and "vision_config" not in loaded.config_value:
                continue
            samples = held_out(skill, options.samples)
            if skill == "pictures":
                answers = picture_answers(loaded, samples)
            else:
                answers = [answer(options.daybreak, model_directory, flat(renderer.prompt(s))[0]) for s in samples]
            print_skill(skill, tokenizer, samples, answers, options.show)


def print_skill(skill, tokenizer, samples, answers, show):
    rights, formed, wrong = 0, 0, []
    for sample, ids in zip(samples, answers):
        parsed = data_judge.parse(tokenizer, ids, sample.effort is not None)
        good = data_judge.right(sample.expect, parsed)
        formed += parsed is not None
        rights += good
        if not good:
            wrong.append((sample, "".join(tokenizer.spelling(i) for i in ids)))
    print(f"  {skill:12} right {rights}/{len(samples)}  well-formed {formed}/{len(samples)}", flush=True)
    for sample, text in wrong[:show]:
        print(f"      asked    {sample.messages[-2]['content']}\n      expected {sample.expect}\n      found    {text}")


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--daybreak")
    parser.add_argument("--samples", type=int, default=20)
    parser.add_argument("--show", type=int, default=0)
    options = parser.parse_args(arguments)
    print_log(options.directory)
    if options.daybreak:
        print_scores(state.load(options.directory), options)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
