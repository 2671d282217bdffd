# SPDX-License-Identifier: Apache-2.0
"""How often the bundled model answers held-out prompts with one of its wordings and stops, sampled and greedily.

    python -m tools.nano_check [--prompts 200] [--raw 50] [--daybreak BINARY]

With --daybreak the product generates, otherwise the reference model.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np  # noqa: E402

from . import make_nano, nano_answer  # noqa: E402
from .nano_prompts import Dice, Renderer, random_history, random_text  # noqa: E402
from .nano_tokenizer import END_OF_MSG  # noqa: E402
from .reference.model import Model  # noqa: E402

MAX_TOKENS = 200


def generate_with_daybreak(binary, model_dir, prompt, seed):
    """Ids after prompt by the product; seed None is greedy."""
    command = [binary, "generate", model_dir, "--ids", ",".join(map(str, prompt)), "--max-tokens", MAX_TOKENS]
    command += ["--threads", 1, "--json"]
    command += ["--temperature", 0] if seed is None else ["--temperature", 1, "--seed", seed]
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)
    return json.loads(done.stdout)["ids"]


def generate(model, prompt, end, seed):
    """Ids after prompt up to and with end, or MAX_TOKENS of them; seed None is greedy."""
    state, ids = model.new_state(), []
    dice = None if seed is None else Dice(f"nano sampling {seed}")
    hidden = model.hidden(prompt, state)
    while len(ids) < MAX_TOKENS and (not ids or ids[-1] != end):
        if ids:
            hidden = model.hidden(ids[-1:], state)
        logits = model.logits(hidden[-1:])[0]
        if dice is None:
            ids.append(int(np.argmax(logits)))
            continue
        probability = np.exp(logits - logits.max())
        total = np.cumsum(probability)
        ids.append(int(np.searchsorted(total, total[-1] * dice.below(2**53) / 2**53, side="right")))
    return ids


def _is_well_formed(renderer, ids, thinking):
    """Whether ids are the rendering of one of the wordings."""
    text = "".join(renderer.tokenizer.spelling(i) for i in ids)
    tail = "<|close|>response<|sep|><|close|>message<|sep|><|end_of_msg|>"
    if not text.endswith(tail):
        return False
    text = text.removesuffix(tail)
    if not thinking:
        return nano_answer.is_response(text)
    think, mark, response = text.partition("<|close|>think<|sep|><|open|>response<|sep|>")
    return bool(mark) and nano_answer.is_think(think) and nano_answer.is_response(response)


def _prompts(renderer, chats, raw):
    """(kind, ids, thinking) of held-out prompts."""
    for number in range(chats):
        dice = Dice(f"nano held out {number}")
        thinking = number % 2 == 0
        history = random_history(renderer, dice, thinking, nano_answer.sample)
        yield f"chat, thinking {'on' if thinking else 'off'}", history + renderer.generation_prompt(thinking), thinking
    for number in range(raw):
        yield "raw text", renderer.tokenizer.encode(random_text(Dice(f"nano held out raw {number}"))), False


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=pathlib.Path, default=make_nano.DEFAULT_OUT)
    parser.add_argument("--prompts", type=int, default=200)
    parser.add_argument("--raw", type=int, default=50)
    parser.add_argument("--daybreak", type=pathlib.Path)
    options = parser.parse_args(arguments)
    model = None if options.daybreak else Model.load(options.model)
    renderer = Renderer(make_nano.tokenizer())
    end, counts = renderer.tokenizer.special(END_OF_MSG), {}
    for number, (kind, prompt, thinking) in enumerate(_prompts(renderer, options.prompts, options.raw)):
        for mode, seed in (("greedy", None), ("temperature 1", number)):
            if model is None:
                ids = generate_with_daybreak(options.daybreak, options.model, prompt, seed)
            else:
                ids = generate(model, prompt, end, seed)
            total = counts.setdefault((kind, mode), [0, 0, 0])
            total[0] += 1
            total[1] += _is_well_formed(renderer, ids, thinking)
            total[2] += ids[-1] == end
            if not _is_well_formed(renderer, ids, thinking):
                print(f"{kind}, {mode}: " + "".join(renderer.tokenizer.spelling(i) for i in ids), file=sys.stderr)
    for (kind, mode), (tried, good, ended) in counts.items():
        print(f"{kind:20} {mode:14} prompts {tried:4}  well-formed {good / tried:6.1%}  ended {ended / tried:6.1%}")


if __name__ == "__main__":
    main(sys.argv[1:])
