# SPDX-License-Identifier: Apache-2.0
"""Benchmarks beside the machine's limits, and beside llama.cpp on the same weights in the same session.

    ./dev bench [--peers] [--rounds N] [--model DIR]

Without --model, a synthetic K3 of 1.8 GB is made once in build/bench-model. --peers installs the pinned llama.cpp
package from npm. Figures are medians; the machine's load is printed beside them because it decides what they are worth.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BINARY = ROOT / "build/release/daybreak"


def run(command):
    subprocess.run([str(part) for part in command], check=True, cwd=ROOT)


def bench_model(directory):
    if directory is not None:
        return directory
    directory = ROOT / "build/bench-model"
    if not (directory / "model.safetensors").exists():
        print(f"making {directory} (1.8 GB, once)", file=sys.stderr)
        run([sys.executable, "-m", "tools.make_bench_model", directory])
    return directory


def model_table(directory, rounds):
    print("| phase | threads | tok/s median | GB/s or GMAC/s | limit | share |\n|---|---|---|---|---|---|")
    for threads in range(1, len(os.sched_getaffinity(0)) + 1):
        for phase, tokens in (("prefill", 128), ("decode", 32)):
            command = [BINARY, "bench", phase, directory, "--threads", threads, "--tokens", tokens,
                       "--repeat", rounds, "--json"]  # fmt: skip
            done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, check=True)
            found = json.loads(done.stdout)
            if phase == "decode":
                figure, limit = f"{found['gb_s']:.1f} GB/s", f"{found['roof_gb_s']:.1f}"
            else:
                figure, limit = f"{found['gmac_s']:.1f} GMAC/s", f"{found['roof_gmac_s']:.1f}"
            print(f"| {phase} | {threads} | {found['tok_s']:.1f} | {figure} | {limit} | {100 * found['share']:.0f} % |")


def peers(directory, rounds):
    gguf = ROOT / "build/bench-model/model.gguf"
    if not gguf.exists():
        gguf.parent.mkdir(parents=True, exist_ok=True)
        run([sys.executable, "-m", "bench.peers.to_gguf", directory, gguf])
    run(["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", ROOT / "bench/peers"])
    run([sys.executable, ROOT / "bench/peers/compare.py", directory, gguf, "--daybreak", BINARY, "--rounds", rounds])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--model", type=pathlib.Path)
    options = parser.parse_args()
    run([BINARY, "bench", "kernels"])
    print("\nwhat the API adds to each token", flush=True)
    run([BINARY, "bench", "streams"])
    directory = bench_model(options.model)
    print(f"\nload average {os.getloadavg()[0]:.1f}", flush=True)
    model_table(directory, options.rounds)
    if options.peers:
        peers(directory, options.rounds)


if __name__ == "__main__":
    main()
