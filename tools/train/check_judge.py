# SPDX-License-Identifier: Apache-2.0
"""Holds data_judge to the verdicts of testdata/exam/answers.jsonl, to which `daybreak exam` is held as well.

    python3 -m tools.train.check_judge

Exits 1 and prints every difference if there is one. Needs Python alone.
"""

import json
import pathlib
import re
import sys

from ..nano_tokenizer import SPECIALS, Tokenizer, byte_order
from . import data_judge

CASES = pathlib.Path(__file__).parent.parent.parent / "testdata" / "exam" / "answers.jsonl"
_OFFSETS = {name: offset for offset, (name, _) in SPECIALS.items()}
_SPLIT = re.compile("(" + "|".join(map(re.escape, _OFFSETS)) + ")")


def ids_of(tokenizer, text):
    """Every marker as its id, every other byte as one of its own."""
    single = {piece: i for i, piece in enumerate(tokenizer.vocabulary)}
    ids = []
    for part in _SPLIT.split(text):
        if part in _OFFSETS:
            ids.append(tokenizer.special(_OFFSETS[part]))
        else:
            ids += [single[bytes([b])] for b in part.encode()]
    return ids


def main():
    tokenizer = Tokenizer([bytes([b]) for b in byte_order()])
    different, cases = 0, [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]
    for case in cases:
        parsed = data_judge.parse(tokenizer, ids_of(tokenizer, case["text"]), case["thinking"])
        found = {"formed": parsed is not None, "right": data_judge.right(case["expect"], parsed)}
        if found != {key: case[key] for key in found}:
            different += 1
            print(f"{case['name']}: expected formed {case['formed']} and right {case['right']}, found {found}")
    print(f"{len(cases)} answers, {different} judged differently")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
