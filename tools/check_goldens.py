# SPDX-License-Identifier: Apache-2.0
"""Regenerates checkpoints and goldens and compares them with the stored ones.

    python3 tools/check_goldens.py       # without numpy: says so and exits 77

Checkpoints must be the same bytes everywhere. Goldens must be the same ids and logits within 1e-9 of the largest (the
float64 sums of a linear-algebra library may differ in the last bits between processors); with the pinned numpy on one
machine they are the same bytes, which is reported. Then every switch of every checkpoint is flipped in turn: a golden
that cannot tell the difference would prove nothing.
"""

import json
import pathlib
import sys
import tempfile

SKIPPED = 77
try:
    import numpy as np
except ImportError:
    print("SKIPPED: numpy is not installed (pip install -r tools/requirements.txt)")
    sys.exit(SKIPPED)

# The tools import each other as a package; run as a script, the package's parent is not on the path.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from tools import make_checkpoints, make_goldens  # noqa: E402
from tools.checkpoint_catalogue import CATALOGUE  # noqa: E402
from tools.golden_sensitivity import check_sensitivity  # noqa: E402

CLOSE = 1e-9


def _same_tree(stored, made):
    """Names of files that are missing on one side or differ."""
    names = {p.name for p in stored.iterdir()} | {p.name for p in made.iterdir()}
    return [n for n in sorted(names) if _bytes(stored / n) != _bytes(made / n)]


def _bytes(path):
    return path.read_bytes() if path.exists() else None


def _compare_golden(stored, made):
    """'identical', 'close', or what differs."""
    if stored.read_bytes() == made.read_bytes():
        return "identical"
    left, right = json.loads(stored.read_text())["cases"], json.loads(made.read_text())["cases"]
    if len(left) != len(right):
        return f"expected {len(left)} cases, found {len(right)}"
    for number, (a, b) in enumerate(zip(left, right)):
        if a["ids"] != b["ids"] or a["greedy"] != b["greedy"]:
            return f"case {number}: ids differ"
        x, y = np.array(a["last_logits"]), np.array(b["last_logits"])
        if x.shape != y.shape or np.abs(x - y).max() > CLOSE * np.abs(x).max():
            return f"case {number}: logits differ"
    return "close"


def main():
    failures = 0
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        for name in CATALOGUE:
            make_checkpoints.make(name, scratch / "checkpoints")
            differing = _same_tree(make_checkpoints.DEFAULT_OUT / name, scratch / "checkpoints" / name)
            make_goldens.make(name, scratch / "goldens")
            verdict = _compare_golden(make_goldens.DEFAULT_OUT / f"{name}.json", scratch / "goldens" / f"{name}.json")
            weak = check_sensitivity(make_checkpoints.DEFAULT_OUT / name)
            bad = bool(differing) or verdict not in ("identical", "close") or bool(weak)
            failures += bad
            print(f"{name:20} checkpoint {differing or 'identical'}  golden {verdict}  switches {weak or 'all felt'}")
    strangers = {p.name for p in make_checkpoints.DEFAULT_OUT.iterdir() if p.is_dir()} - set(CATALOGUE)
    strangers |= {p.stem for p in make_goldens.DEFAULT_OUT.glob("*.json")} - set(CATALOGUE)
    if strangers:
        print(f"not in the catalogue: {sorted(strangers)}")
    return 1 if failures or strangers else 0


if __name__ == "__main__":
    sys.exit(main())
