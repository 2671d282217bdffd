# SPDX-License-Identifier: Apache-2.0
"""Holds the generator's rendering and tokenizer to the product's, id for id.

    python -m tools.train.check_render MODEL --daybreak BINARY [--conversations 1500] [--texts 12000]

Exits 1 and prints the first difference if there is one.
"""

import argparse
import json
import pathlib
import subprocess
import sys

from . import data_chat, data_mix
from .data_dice import HELD_OUT, TRAIN, Dice
from .data_render import Renderer, flat
from .tokenizer import Tokenizer


def _ask(binary, command, model, values):
    """The product's answer to each value, in order."""
    lines = "".join(json.dumps(v, ensure_ascii=False) + "\n" for v in values)
    done = subprocess.run(
        [binary, command, model, "--jsonl"], input=lines.encode(), stdout=subprocess.PIPE, check=False
    )
    answers = [json.loads(line) for line in done.stdout.decode().splitlines()]
    if len(answers) != len(values):
        raise RuntimeError(f"daybreak {command}: expected {len(values)} answers, found {len(answers)}")
    return answers


def _closed(sample):
    """The request whose prompt is the whole conversation; only where nothing stands behind the messages."""
    request = sample.request()
    request["messages"] = sample.messages
    request["kwargs"]["add_generation_prompt"] = False
    return request


def conversations(renderer, count):
    """(request, ids) of prompts, and of whole conversations where the product can render them."""
    for number in range(count):
        sample = data_mix.sample((TRAIN, HELD_OUT)[number % 2], number, "render check", pictures=True)
        yield sample.request(), flat(renderer.prompt(sample))[0]
        if sample.tool_choice == "auto" and sample.response_format is None:
            yield _closed(sample), flat(renderer.whole(sample))[0]


def texts(count):
    """Everything the generator writes, one string each, and arbitrary text."""
    from .tokenizer import texts_of

    found = sorted(set(texts_of(count // 20)))
    dice = Dice("tokenizer check", TRAIN, 0)
    found = dice.some(found, min(len(found), count // 2))
    while len(found) < count:
        found.append(" ".join(data_chat.scraps(dice) for _ in range(dice.between(1, 3))))
    return found


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("--daybreak", required=True)
    parser.add_argument("--conversations", type=int, default=1500)
    parser.add_argument("--texts", type=int, default=12000)
    options = parser.parse_args(arguments)
    tokenizer = Tokenizer.load(options.model)
    pairs = list(conversations(Renderer(tokenizer), options.conversations))
    for (request, ids), answer in zip(pairs, _ask(options.daybreak, "render", options.model, [r for r, _ in pairs])):
        if answer.get("ids") != ids:
            print(f"{json.dumps(request, ensure_ascii=False)}\nexpected {answer}\nfound {ids}")
            return 1
    found = texts(options.texts)
    for text, answer in zip(found, _ask(options.daybreak, "tokenize", options.model, [{"text": t} for t in found])):
        if answer.get("ids") != tokenizer.encode(text):
            print(f"{text!r}\nexpected {answer}\nfound {tokenizer.encode(text)}")
            return 1
    print(f"{len(pairs)} renderings and {len(found)} texts, all ids equal")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
