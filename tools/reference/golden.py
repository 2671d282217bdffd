# SPDX-License-Identifier: Apache-2.0
"""Goldens of a checkpoint: last logits and greedy continuations of seeded prompts.

    python -m tools.reference.golden CHECKPOINT [--lengths 1,5,17] [--greedy 8] [--out FILE]
    python -m tools.reference.golden CHECKPOINT --ids 1,2,3
"""

import argparse
import json
import pathlib
import sys

from .. import deterministic_random
from .model import Model

LENGTHS = (1, 5, 17, 64, 65, 130)
GREEDY = 8
MIN_MARGIN = 5e-3  # prompts with a closer race are passed over, so no float32 model may pick another id
MAX_TRIES = 1000


def case(model, ids, greedy):
    """One golden; 9 significant digits are more than float32 holds."""
    logits, chosen, margins = model.greedy(ids, greedy)
    return {
        "ids": [int(i) for i in ids],
        "last_logits": [float(f"{x:.9g}") for x in logits],
        "greedy": chosen,
        "margin": [float(f"{x:.4g}") for x in margins],
    }


def seeded_case(model, name, length, greedy):
    """The first seeded prompt of this length whose greedy continuation is nowhere close."""
    for attempt in range(MAX_TRIES):
        ids = deterministic_random.integers(f"daybreak prompt {name} {length} {attempt}", (length,), model.config.vocab)
        found = case(model, ids, greedy)
        if min(found["margin"]) >= MIN_MARGIN:
            return found
    raise RuntimeError(f"{name}: no prompt of length {length} with margin {MIN_MARGIN} in {MAX_TRIES} tries")


def goldens(directory, label, lengths=LENGTHS, greedy=GREEDY):
    """The golden file's value; label is the checkpoint's path as written into it."""
    model, name = Model.load(directory), pathlib.Path(directory).name
    return {"checkpoint": label, "cases": [seeded_case(model, name, length, greedy) for length in lengths]}


def write(path, value):
    """One case per line pair: long arrays stay on one line so that a diff shows which case moved."""
    lines = ['{"checkpoint": ' + json.dumps(value["checkpoint"]) + ', "cases": [']
    lines.append(",\n".join(json.dumps(c, separators=(",", ":")) for c in value["cases"]))
    pathlib.Path(path).write_text("\n".join(lines) + "\n]}\n")


def _numbers(text):
    return [int(part) for part in text.split(",")]


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", type=pathlib.Path)
    parser.add_argument("--lengths", type=_numbers, default=LENGTHS)
    parser.add_argument("--ids", type=_numbers)
    parser.add_argument("--greedy", type=int, default=GREEDY)
    parser.add_argument("--out", type=pathlib.Path)
    options = parser.parse_args(arguments)
    if options.ids:
        value = {
            "checkpoint": str(options.checkpoint),
            "cases": [case(Model.load(options.checkpoint), options.ids, options.greedy)],
        }
    else:
        value = goldens(options.checkpoint, str(options.checkpoint), options.lengths, options.greedy)
    write(options.out or "/dev/stdout", value)


if __name__ == "__main__":
    main(sys.argv[1:])
