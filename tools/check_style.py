#!/usr/bin/env python3
"""Checks what a formatter cannot: licence line, include guards, own header first, ASCII, sizes.

Headers over 200 lines and sources over 500 need a line "Long because: ..." near their top.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIMITS = {".h": 200, ".cc": 500}


def problems_of(path):
    text = path.read_text()
    lines = text.splitlines()
    found = []
    if not lines or lines[0] != "// SPDX-License-Identifier: Apache-2.0":
        found.append("first line must be the SPDX licence")
    if path.suffix == ".h" and "#pragma once" not in text:
        found.append("no #pragma once")
    header = path.with_suffix(".h")
    if path.suffix == ".cc" and header.exists():
        first = next((l for l in lines if l.startswith("#include")), "")
        if first != f'#include "{path.parent.name}/{header.name}"':
            found.append(f"its own header must be included first, found {first}")
    if not text.isascii() and not path.name.endswith("_test.cc"):
        bad = next(i for i, l in enumerate(lines, 1) if not l.isascii())
        found.append(f"line {bad} is not ASCII")
    if len(lines) > LIMITS[path.suffix] and not any("Long because:" in l for l in lines[:20]):
        found.append(f"{len(lines)} lines, limit {LIMITS[path.suffix]} (or say 'Long because: ...')")
    for i, line in enumerate(lines, 1):
        if re.search(r"\busing namespace std\b|\bTODO(?!\(#\d+\))", line):
            found.append(f"line {i}: {line.strip()}")
    return found


def main():
    files = [p for p in sorted(ROOT.glob("src/*/*")) + sorted(ROOT.glob("fuzz/*.cc"))
             if p.suffix in LIMITS]
    count = 0
    for path in files:
        for problem in problems_of(path):
            print(f"{path.relative_to(ROOT)}: {problem}")
            count += 1
    longest = sorted(files, key=lambda p: -len(p.read_text().splitlines()))[:10]
    print("longest: " + ", ".join(f"{p.name} {len(p.read_text().splitlines())}" for p in longest))
    if count:
        sys.exit(f"{count} style problems")


if __name__ == "__main__":
    main()
