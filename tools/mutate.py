#!/usr/bin/env python3
"""Breaks one rule at a time and checks that the named test fails.

A test that cannot fail is not a test. tools/mutants.json lists small changes to the sources, each with
the test that must notice: {"name", "rule", "file", "find", "replace", "target", "filter"}. `target` is
a test binary of some module such as "kernels_unit_test", `filter` a Google Test filter. Works on a
copy of the tree in build/mutate, so the working tree is never touched, and builds only the targets
that are named.

usage: mutate.py [--list] [NAME ...]     exit 0: every mutant was caught
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = ROOT / "build" / "mutate"
COPIED = ["CMakeLists.txt", "cmake", "fuzz", "src"]
TEST_TIMEOUT_S = 300  # a mutant may make a test hang, which is noticing it too
KEYS = {"name", "rule", "file", "find", "replace", "target", "filter"}


def load_mutants():
    """Returns the list, checked: every key there, every `find` exactly once in its file."""
    mutants = json.loads((ROOT / "tools" / "mutants.json").read_text())
    names = set()
    for m in mutants:
        if set(m) != KEYS:
            sys.exit(f"mutants.json: {m.get('name', '?')}: expected the keys {sorted(KEYS)}, found {sorted(m)}")
        if m["name"] in names:
            sys.exit(f"mutants.json: two mutants are named {m['name']}")
        names.add(m["name"])
        found = (ROOT / m["file"]).read_text().count(m["find"])
        if found != 1:
            sys.exit(f"mutants.json: {m['name']}: expected {m['find']!r} once in {m['file']}, found it {found} times")
    return mutants


def sync():
    """Copies the sources, leaving files that did not change alone so that little is rebuilt."""
    WORK.mkdir(parents=True, exist_ok=True)
    wanted = set()
    for top in COPIED:
        source = ROOT / top
        for path in [source] if source.is_file() else source.rglob("*"):
            if path.is_file():
                wanted.add(path.relative_to(ROOT))
    for relative in wanted:
        target = WORK / "tree" / relative
        if not target.exists() or target.read_bytes() != (ROOT / relative).read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / relative, target)
    for old in (WORK / "tree").rglob("*"):
        if old.is_file() and old.relative_to(WORK / "tree") not in wanted:
            old.unlink()


def run(command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)


def configure():
    result = run(["cmake", "-S", str(WORK / "tree"), "-B", str(WORK / "build"), "-G", "Ninja",
                  "-DCMAKE_BUILD_TYPE=Release"])
    if result.returncode != 0:
        sys.exit("mutate: cmake failed\n" + result.stdout)


def build(target):
    return run(["ninja", "-C", str(WORK / "build"), target])


def test(mutant):
    """Returns (tests that ran, all passed, output)."""
    module = mutant["target"].split("_")[0]
    binary = WORK / "build" / "src" / module / mutant["target"]
    environment = dict(os.environ, DAYBREAK_SOURCE_DIR=str(ROOT),
                       DAYBREAK_BINARY=str(WORK / "build" / "daybreak"))
    try:
        result = run([str(binary), f"--gtest_filter={mutant['filter']}"], env=environment, timeout=TEST_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        return 1, False, f"no end after {TEST_TIMEOUT_S} s"
    ran = result.stdout.count("[ RUN      ]") - result.stdout.count("[  SKIPPED ]")
    return ran, result.returncode == 0, result.stdout


def check_unbroken(mutants):
    """Every named test must exist and pass before anything is broken."""
    for target in sorted({m["target"] for m in mutants}):
        result = build(target)
        if result.returncode != 0:
            sys.exit(f"mutate: {target} does not build unbroken\n{result.stdout[-4000:]}")
    for m in mutants:
        ran, passed, output = test(m)
        if ran == 0:
            sys.exit(f"mutate: {m['name']}: the filter {m['filter']} runs no test of {m['target']}")
        if not passed:
            sys.exit(f"mutate: {m['name']}: {m['filter']} fails on unbroken code\n{output[-4000:]}")


def try_mutant(mutant):
    """Returns "caught", "survived" or "does not build"."""
    path = WORK / "tree" / mutant["file"]
    original = path.read_text()
    path.write_text(original.replace(mutant["find"], mutant["replace"]))
    try:
        if build(mutant["target"]).returncode != 0:
            return "does not build"
        _, passed, _ = test(mutant)
        return "survived" if passed else "caught"
    finally:
        path.write_text(original)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="print the mutants and stop")
    parser.add_argument("names", nargs="*", help="only these")
    arguments = parser.parse_args()
    mutants = load_mutants()
    unknown = set(arguments.names) - {m["name"] for m in mutants}
    if unknown:
        sys.exit(f"mutate: no mutant named {', '.join(sorted(unknown))}; see --list")
    if arguments.names:
        mutants = [m for m in mutants if m["name"] in arguments.names]
    if arguments.list:
        for m in mutants:
            print(f"{m['name']:32} rule {m['rule']:>3}  {m['target']} {m['filter']}")
        return 0
    sync()
    configure()
    check_unbroken(mutants)
    escaped = 0
    for m in sorted(mutants, key=lambda m: m["file"]):
        start = time.monotonic()
        outcome = try_mutant(m)
        escaped += outcome != "caught"
        print(f"{outcome:14} {m['name']:32} rule {m['rule']:>3}  ({time.monotonic() - start:.0f} s)", flush=True)
    print(f"{len(mutants) - escaped} of {len(mutants)} mutants caught")
    return 1 if escaped else 0


if __name__ == "__main__":
    sys.exit(main())
