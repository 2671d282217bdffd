#!/usr/bin/env python3
"""Prints the table of proofs from fresh runs: what, against which oracle, figure, limit, command.

Each row of tools/proofs.json names a test; the test prints its figure on a line `PROOF key: value`.
A row whose test was skipped or failed says so; any failure gives exit code 1.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def run_row(row, build):
    """Returns (figure, state) with state ok | skipped | FAILED."""
    binary = build / "src" / row["module"] / f"{row['module']}_{row['label']}_test"
    env = dict(os.environ, DAYBREAK_SOURCE_DIR=str(ROOT), DAYBREAK_BINARY=str(build / "daybreak"))
    done = subprocess.run([binary, f"--gtest_filter={row['test']}"], capture_output=True, text=True,
                          env=env, timeout=900)
    if done.returncode != 0 or "Running 0 tests" in done.stdout:
        return "", "FAILED"
    if "[  SKIPPED ]" in done.stdout:
        return "", "skipped"
    match = re.search(rf"^PROOF {re.escape(row['key'])}: (.*)$", done.stdout, re.M)
    return (match.group(1), "ok") if match else ("no figure printed", "FAILED")


def command_of(row):
    pattern = row["test"].replace(".", "[.]").replace("*", ".*").removesuffix(".*")
    return f"./dev test -R '{row['module']}/{pattern}'"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release", type=pathlib.Path)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--require-all", action="store_true", help="a skipped row is a failure too")
    options = parser.parse_args()
    rows = json.loads((ROOT / "tools/proofs.json").read_text())
    results = []
    for i, row in enumerate(rows):
        if sys.stderr.isatty():
            print(f"\r[{i + 1}/{len(rows)}] {row['what'][:60]:60}", end="", file=sys.stderr)
        figure, state = run_row(row, (ROOT / options.build).resolve())
        results.append(dict(row, figure=figure, state=state, command=command_of(row)))
    if sys.stderr.isatty():
        print("\r" + " " * 80 + "\r", end="", file=sys.stderr)
    if options.json:
        print(json.dumps(results, indent=1))
    else:
        print("| what | against | figure | limit | command |\n|---|---|---|---|---|")
        for r in results:
            figure = r["figure"] if r["state"] == "ok" else f"**{r['state']}** {r['figure']}".strip()
            print(f"| {r['what']} | {r['oracle']} | {figure} | {r['limit']} | `{r['command']}` |")
    skipped = sum(r["state"] == "skipped" for r in results)
    if skipped:
        print(f"{skipped} of {len(results)} rows skipped: they need the reference data, see docs/reference.md",
              file=sys.stderr)
    if any(r["state"] == "FAILED" for r in results) or (options.require_all and skipped):
        sys.exit(1)


if __name__ == "__main__":
    main()
