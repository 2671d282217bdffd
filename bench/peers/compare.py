# SPDX-License-Identifier: Apache-2.0
"""Measures daybreak and llama.cpp on the same synthetic weights, alternating, and prints the best of each as a table.

    python bench/peers/compare.py SNAPSHOT_DIR MODEL.gguf --daybreak build/release/daybreak --llama LIBRARY_DIR
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
DEFAULT_LLAMA = HERE / "node_modules" / "@node-llama-cpp" / "linux-x64" / "bins" / "linux-x64"


def _json(command):
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout.decode().strip().splitlines()[-1])


def run_llama(options, threads):
    script = [sys.executable, HERE / "llama_cpp.py", options.llama, options.gguf]
    found = _json([*script, "--threads", threads, "--prompt", options.prompt, "--tokens", options.tokens])
    return {"prefill": found["prefill_tok_s"], "decode": found["decode_tok_s"]}


def run_daybreak(options, threads):
    found = {}
    for phase, tokens in (("prefill", options.prompt), ("decode", options.tokens)):
        command = [options.daybreak, "bench", phase, options.snapshot, "--threads", threads, "--tokens", tokens]
        if phase == "decode":
            command += ["--depth", options.prompt]
        found[phase] = _json([*command, "--repeat", 1, "--json"])["tok_s"]
    return found


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("snapshot", type=pathlib.Path)
    parser.add_argument("gguf", type=pathlib.Path)
    parser.add_argument("--daybreak", type=pathlib.Path, required=True)
    parser.add_argument("--llama", type=pathlib.Path, default=DEFAULT_LLAMA)
    parser.add_argument("--threads", type=lambda text: [int(n) for n in text.split(",")], default=[1, 2])
    parser.add_argument("--prompt", type=int, default=128)
    parser.add_argument("--tokens", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args(arguments)
    best = {}
    for round_number in range(options.rounds):
        for threads in options.threads:
            for engine, run in (("llama.cpp v0.5.0", run_llama), ("daybreak", run_daybreak)):
                found = run(options, threads)
                loads = " ".join(f"{x:.1f}" for x in os.getloadavg()[:1])
                print(f"round {round_number + 1} {engine} threads {threads} load {loads}: {found}", file=sys.stderr)
                for phase, speed in found.items():
                    best.setdefault((engine, threads), {}).setdefault(phase, []).append(speed)
    print("| engine | threads | prefill tok/s best (median) | decode tok/s best (median) |\n|---|---|---|---|")
    for (engine, threads), speeds in best.items():
        cells = [f"{max(s):.1f} ({sorted(s)[len(s) // 2]:.1f})" for s in (speeds["prefill"], speeds["decode"])]
        print(f"| {engine} | {threads} | {cells[0]} | {cells[1]} |")


if __name__ == "__main__":
    main(sys.argv[1:])
