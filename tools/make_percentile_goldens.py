#!/usr/bin/env python3
"""Writes golden/loadgen/percentiles.json: values and what numpy says of them.

    python3 -m tools.make_percentile_goldens
"""
import json
import pathlib

import numpy as np

OUT = pathlib.Path(__file__).resolve().parent.parent / "golden/loadgen/percentiles.json"
PERCENTILES = (50, 90, 95, 99)


def case(name, values):
    # Rounded to float32, which is what is kept.
    values = np.asarray(values, dtype=np.float32).astype(np.float64)
    return {"name": name,
            "values": [float(v) for v in values],
            "mean": float(np.mean(values)),
            "std": float(np.std(values)),
            "max": float(np.max(values)),
            **{f"p{p}": float(np.percentile(values, p)) for p in PERCENTILES}}


def main():
    rng = np.random.default_rng(20261130)
    cases = [case("one", [0.25]),
             case("two", [1.0, 3.0]),
             case("ten", range(10)),
             case("equal", [0.5] * 7),
             case("zeros and one large", [0.0] * 99 + [1e6]),
             case("lognormal", rng.lognormal(-3, 1, 997)),
             case("exponential", rng.exponential(0.02, 500))]
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps(cases) + "\n")


if __name__ == "__main__":
    main()
