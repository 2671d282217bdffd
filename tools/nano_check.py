# SPDX-License-Identifier: Apache-2.0
"""How often the bundled model answers held-out prompts with one of its wordings and stops, sampled and greedily.

    python -m tools.nano_check [--prompts 200] [--raw 50]
"""

import argparse
import os
import pathlib
import sys

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np  # noqa: E402

from . import make_nano, nano_answer  # noqa: E402
from .nano_prompts import Dice, Renderer, random_history, random_text  # noqa: E402
from .nano_tokenizer import END_OF_MSG  # noqa: E402
from .reference.model import Model  # noqa: E402

MAX_TOKENS = 200


def generate(model, prompt, end, dice):
    """Ids after prompt up to and with end, or MAX_TOKENS of them; dice None is greedy."""
    state, ids = model.new_state(), []
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
    options = parser.parse_args(arguments)
    model, renderer = Model.load(options.model), Renderer(make_nano.tokenizer())
    end, counts = renderer.tokenizer.special(END_OF_MSG), {}
    for number, (kind, prompt, thinking) in enumerate(_prompts(renderer, options.prompts, options.raw)):
        for mode, dice in (("greedy", None), ("temperature 1", Dice(f"nano sampling {number}"))):
            ids = generate(model, prompt, end, dice)
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
