#!/usr/bin/env python3
"""Checks the include direction against the table in ARCHITECTURE.md.

A module may include itself, `base`, and what its row lists. Test code (x_test.cc, and headers whose
first paragraph says "Test code only") may also include testing/.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def read_table():
    """Returns {module: set of modules it may include} from ARCHITECTURE.md."""
    allowed = {}
    for line in (ROOT / "ARCHITECTURE.md").read_text().splitlines():
        cells = [c.strip() for c in line.strip().strip("|").split("|")]
        if len(cells) < 5 or not cells[0].isdigit():
            continue
        names = re.sub(r"\(.*?\)", "", cells[2])
        allowed[cells[1]] = {n.strip() for n in re.split(r",", names) if n.strip() not in ("", "-", "–")}
    return allowed


def main():
    allowed = read_table()
    if len(allowed) < 10:
        sys.exit("check_layers: ARCHITECTURE.md has no module table")
    problems = []
    files = 0
    for path in sorted((ROOT / "src").glob("*/*")):
        if path.suffix not in (".h", ".cc"):
            continue
        module = path.parent.name
        if module == "testing":
            continue
        if module not in allowed:
            problems.append(f"{path.relative_to(ROOT)}: module '{module}' has no row in ARCHITECTURE.md")
            continue
        files += 1
        may = allowed[module] | {module, "base"}
        if "all" in may:
            may |= set(allowed)
        head = re.sub(r"\s+(//)?\s*", " ", path.read_text()[:600])
        if path.name.endswith("_test.cc") or "Test code only" in head:
            may |= {"testing"}
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = re.match(r'\s*#include "(?:([a-z_]+)/)?([^"]+)"', line)
            if not match:
                continue
            where = f"{path.relative_to(ROOT)}:{number}"
            if match.group(1) is None:
                problems.append(f"{where}: write includes from src/, as \"{module}/{match.group(2)}\"")
            elif match.group(1) not in may:
                problems.append(f"{where}: {module} may not include {match.group(1)}"
                                f" (allowed: {', '.join(sorted(may))})")
    for problem in problems:
        print(problem)
    if problems:
        sys.exit(f"{len(problems)} layer violations")
    print(f"layers: {files} files follow the table")


if __name__ == "__main__":
    main()
