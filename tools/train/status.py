# SPDX-License-Identifier: Apache-2.0
"""How a training stands: its log, and held-out skills answered greedily by the product.

    python -m tools.train.status DIR [--daybreak BINARY] [--samples 20] [--show 2]

Without --daybreak only the log is read. With it the newest checkpoint is exported to a temporary directory and
asked `samples` held-out conversations of every skill; the share that is right and the share that is well-formed are
printed, and `show` wrong answers of each skill.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

from . import data_judge, data_mix, export, state
from .data_dice import HELD_OUT
from .data_render import Renderer, flat
from .data_stream import SKILLS

MAX_TOKENS = 400


def print_log(directory):
    lines = (directory / "log.jsonl").read_text(encoding="utf-8").splitlines()
    last = json.loads(lines[-1])
    print(f"step {last['step']}, {last['tokens'] / 1e6:.1f} M tokens, {last['learnt'] / 1e6:.1f} M learnt, {last['hours']:.2f} h, {last['tokens_per_second']} tokens/s, rate {last['rate']}")
    print(f"loss {last['loss']}, right {last['right']:.1%}, gradient norm {last['norm']}, largest expert load {last['load']}")
    for skill, (loss, right) in last["skills"].items():
        print(f"  {skill:12} loss {loss:.3f}  next token right {right:.1%}")


def held_out(skill, count):
    """The first `count` held-out conversations of a skill that end with an answer to judge."""
    found, number = [], 0
    while len(found) < count:
        sample = data_mix.sample(HELD_OUT, number)
        number += 1
        if sample.skill == skill:
            found.append(sample)
    return found


def answer(binary, model, ids):
    """The product's greedy continuation."""
    command = [binary, "generate", model, "--ids", ",".join(map(str, ids)), "--max-tokens", MAX_TOKENS, "--threads", 1, "--json"]
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)["ids"]


def print_scores(loaded, options):
    tokenizer = loaded.tokenizer()
    renderer = Renderer(tokenizer)
    with tempfile.TemporaryDirectory() as model:
        export.write(model, loaded.export_params(), loaded.export_biases(), loaded.config_value, tokenizer)
        for skill in SKILLS:
            if skill == "pictures":
                continue
            rights = formed = 0
            shown = []
            for sample in held_out(skill, options.samples):
                ids = answer(options.daybreak, model, flat(renderer.prompt(sample))[0])
                parsed = data_judge.parse(tokenizer, ids, sample.effort is not None)
                good = data_judge.right(sample.expect, parsed)
                formed += parsed is not None
                rights += good
                if not good and len(shown) < options.show:
                    shown.append((sample, "".join(tokenizer.spelling(i) for i in ids)))
            print(f"  {skill:12} right {rights}/{options.samples}  well-formed {formed}/{options.samples}", flush=True)
            for sample, text in shown:
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
