# SPDX-License-Identifier: Apache-2.0
"""Writes golden/model/NAME.json for the checkpoints of testdata/checkpoints.

    python -m tools.make_goldens [--out DIR] [NAME ...]
"""

import argparse
import pathlib
import sys

from .checkpoint_catalogue import CATALOGUE
from .reference import golden

ROOT = pathlib.Path(__file__).resolve().parent.parent
DEFAULT_OUT = ROOT / "golden" / "model"


def make(name, out):
    relative = f"testdata/checkpoints/{name}"
    out = pathlib.Path(out)
    out.mkdir(parents=True, exist_ok=True)
    golden.write(out / f"{name}.json", golden.goldens(ROOT / relative, relative))


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=pathlib.Path, default=DEFAULT_OUT)
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args(arguments)
    for name in options.names or CATALOGUE:
        make(name, options.out)
        print(name, file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
