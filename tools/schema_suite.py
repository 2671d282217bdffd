#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints how the validator and the automaton do on the JSON-Schema-Test-Suite, one row per file, as the table of
docs/structured-output.md.

    python3 tools/schema_suite.py SUITE --daybreak build/release/daybreak

SUITE is a folder of the suite's *.json files for 2020-12. `format` is an annotation there, as the suite has it. Exit code 1 if any
verdict is wrong.
"""

import argparse
import collections
import json
import pathlib
import subprocess
import sys


def cases_of(suite):
    """Yields (file, schema, data, valid)."""
    for path in sorted(suite.glob("*.json")):
        for group in json.loads(path.read_text()):
            for test in group["tests"]:
                yield path.stem, group["schema"], test["data"], test["valid"]


def verdicts(binary, arguments, lines, key):
    """Returns a verdict per line; None where the schema was refused."""
    text = "".join(json.dumps(line) + "\n" for line in lines)
    done = subprocess.run([binary, "schema", *arguments, "--jsonl"], input=text, capture_output=True, text=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    if len(answers) != len(lines):
        sys.exit(f"{len(lines)} lines asked, {len(answers)} answered: {done.stderr}")
    return [None if "error" in answer else answer[key] for answer in answers]


def compact(data):
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", type=pathlib.Path)
    parser.add_argument("--daybreak", default="build/release/daybreak")
    options = parser.parse_args()
    cases = list(cases_of(options.suite))
    if not cases:
        sys.exit(f"no cases in {options.suite}")
    validator = verdicts(options.daybreak, ["validate"], [{"schema": s, "instance": d} for _, s, d, _ in cases], "ok")
    automaton = verdicts(options.daybreak, ["accept", "--annotate-formats"],
                         [{"schema": s, "text": compact(d)} for _, s, d, _ in cases], "accepted")
    rows = collections.defaultdict(collections.Counter)
    for (name, _, _, valid), *found in zip(cases, validator, automaton):
        for row in (rows[name], rows["total"]):
            row["cases"] += 1
            for who, verdict in zip(("validator", "automaton"), found):
                row[who, "refused" if verdict is None else "right" if verdict == valid else "wrong"] += 1
    print("| file | cases | validator right | refused | automaton right | refused |\n|---|---|---|---|---|---|")
    for name in [*sorted(set(rows) - {"total"}), "total"]:
        row = rows[name]
        print(f"| {name} | {row['cases']} | " + " | ".join(
            str(row[who, what] or "") for who in ("validator", "automaton") for what in ("right", "refused")) + " |")
    wrong = {who: rows["total"][who, "wrong"] for who in ("validator", "automaton")}
    if any(wrong.values()):
        sys.exit(f"wrong verdicts: {wrong}")


if __name__ == "__main__":
    main()
