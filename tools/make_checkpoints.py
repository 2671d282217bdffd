# SPDX-License-Identifier: Apache-2.0
"""Writes the small checkpoints of testdata/checkpoints, each a different set of the family's switches.

    python -m tools.make_checkpoints [--out DIR] [NAME ...]
"""

import argparse
import pathlib
import sys

from .checkpoint_catalogue import CATALOGUE
from .checkpoint_writer import write_json
from .synthetic_weights import WeightMaker

ROOT = pathlib.Path(__file__).resolve().parent.parent
DEFAULT_OUT = ROOT / "testdata" / "checkpoints"


def make(name, out):
    """Writes out/name and returns its size in bytes."""
    spec, directory = CATALOGUE[name], pathlib.Path(out) / name
    directory.mkdir(parents=True, exist_ok=True)
    config = spec.config()
    write_json(directory / "config.json", config)
    tensors = WeightMaker(config, spec.storage, seed=f"daybreak checkpoint {name} ").make()
    tensors.write_snapshot(directory, spec.shards, spec.natural_alignment)
    return sum(path.stat().st_size for path in directory.iterdir())


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=pathlib.Path, default=DEFAULT_OUT)
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args(arguments)
    for name in options.names or CATALOGUE:
        print(f"{name}: {make(name, options.out)} bytes", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
