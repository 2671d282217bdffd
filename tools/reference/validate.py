# SPDX-License-Identifier: Apache-2.0
"""Compares the reference with goldens it did not make: checkpoints with logits of the released code, op fixtures.

    python -m tools.reference.validate SHARED_DATA_DIR
"""

import json
import pathlib
import sys

import numpy as np

from .model import Model
from .validate_ops import check_ops

LOGITS_LIMIT = 2e-5  # relative rms; the oracle computed in float32
MARGIN = 1e-3  # greedy ids must agree while the gap between the two best logits exceeds this


def _prompt(case, vocab):
    return case["ids"] if "ids" in case else [(i * 7919 + 13) % vocab for i in range(case["n"])]


def check_checkpoint(directory):
    """(worst relative rms of last logits, greedy ids compared); raises where an id differs without a tie."""
    model = Model.load(directory)
    worst, compared = 0.0, 0
    for number, case in enumerate(json.loads((directory / "goldens.json").read_text())["cases"]):
        expected = np.array(case["last_logits"])
        logits, ids, margins = model.greedy(_prompt(case, model.config.vocab), len(case["greedy"]))
        worst = max(worst, float(np.sqrt(((logits - expected) ** 2).mean() / (expected**2).mean())))
        for step, (got, want, margin) in enumerate(zip(ids, case["greedy"], margins)):
            if got != want:
                if margin > MARGIN:
                    raise AssertionError(f"{directory.name} case {number} step {step}: expected id {want}, found {got}")
                break
            compared += 1
    return worst, compared


def main(shared):
    failed = False
    for directory in sorted((shared / "checkpoints").iterdir()):
        worst, compared = check_checkpoint(directory)
        failed |= not worst < LOGITS_LIMIT
        print(f"{directory.name:26} logits rel-rms {worst:.1e} (limit {LOGITS_LIMIT:.0e})  greedy ids equal {compared}")
    for name, error in check_ops(shared / "fixtures"):
        failed |= not error <= 1.0
        print(f"{name:26} error / tolerance = {error:.1e} (limit 1)")
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m tools.reference.validate SHARED_DATA_DIR")
    sys.exit(main(pathlib.Path(sys.argv[1])))
