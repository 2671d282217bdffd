# SPDX-License-Identifier: Apache-2.0
"""Writes the schemas of the grammar benchmark: the tools of testdata/grammar/tools.jsonl and random ones of `daybreak schema generate`.

    python -m tools.make_grammar_bench TARGET.jsonl --daybreak build/release/daybreak [--random 480]

Every instance of a random schema, made by our generator and judged by our validator, is judged again by jsonschema (PyPI); where the two
do not agree the schema is named on stderr and left out. The result depends on --seed alone.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOOLS = ROOT / "testdata" / "grammar" / "tools.jsonl"
PER_BATCH = 200


def agreed(entry):
    """Whether jsonschema says of every instance what we say; patterns are read as ECMA-262 has them where Python differs."""
    schema = json.loads(re.sub(r"\\\\d", "[0-9]", entry["schema"]))
    judge = jsonschema.Draft202012Validator(schema)
    for text, expected in [(t, True) for t in entry["instances"]] + [(t, False) for t in entry["invalid"]]:
        if has_duplicate(text):
            continue  # valid for jsonschema, which keeps the last; refused by us
        if judge.is_valid(json.loads(text)) != expected:
            print(f"{entry['name']}: jsonschema says {not expected} of {text}\n  {entry['schema']}", file=sys.stderr)
            return False
    return True


def has_duplicate(text):
    found = []

    def pairs(members):
        found.append(len({key for key, _ in members}) != len(members))
        return dict(members)

    json.loads(text, object_pairs_hook=pairs)
    return any(found)


def random_entries(daybreak, count, seed):
    out, disagreements, texts = [], 0, set()
    while len(out) < count:
        command = [str(daybreak), "schema", "generate", "--count", str(PER_BATCH), "--seed", str(seed)]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
        entries = [json.loads(line) for line in done.stdout.decode().splitlines()]
        seed = int(entries[-1]["name"].rsplit("-", 1)[1]) + 1
        for entry in entries:
            if entry["schema"] in texts or len(entry["schema"]) < 60:
                continue
            if not agreed(entry):
                disagreements += 1
            elif len(out) < count:
                texts.add(entry["schema"])
                out.append(entry)
    return out, disagreements


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", type=pathlib.Path)
    parser.add_argument("--daybreak", type=pathlib.Path, required=True)
    parser.add_argument("--random", type=int, default=480, help="random schemas beside the tools")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    tools = [json.loads(line) for line in TOOLS.read_text().splitlines()]
    randoms, disagreements = random_entries(options.daybreak, options.random, options.seed)
    entries = tools + randoms
    options.target.parent.mkdir(parents=True, exist_ok=True)
    options.target.write_text("".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries))
    print(
        f"{len(entries)} schemas, {sum(len(e['instances']) for e in entries)} instances, "
        f"{sum(len(e['invalid']) for e in entries)} invalid ones; left out, because jsonschema disagrees: {disagreements}"
    )


if __name__ == "__main__":
    main()
