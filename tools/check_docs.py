#!/usr/bin/env python3
"""Keeps the documents true.

  links      every relative link in *.md exists
  errors     the error table in ARCHITECTURE.md equals the enum's own table
  cli BIN    docs/cli.md equals `daybreak help --markdown`
  run BIN    every ```sh block that follows a line `<!-- run -->` succeeds (cwd: the checkout)
"""
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SKIP = ("build", "node_modules", ".venv", ".git")


def documents():
    return [p for p in sorted(ROOT.rglob("*.md")) if not set(p.relative_to(ROOT).parts) & set(SKIP)]


def check_links():
    bad = []
    count = 0
    for doc in documents():
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", doc.read_text()):
            if re.match(r"[a-z]+:", target):
                continue
            count += 1
            if not (doc.parent / target).exists():
                bad.append(f"{doc.relative_to(ROOT)}: no such file {target}")
    return bad, f"{count} links"


def check_errors():
    table = re.findall(r"^\| ([a-z_]+) \| (\d+) \| (\d+) \|$",
                       (ROOT / "ARCHITECTURE.md").read_text(), re.M)
    code = re.findall(r'\{"([a-z_]+)", (\d+), (\d+)\}', (ROOT / "src/base/result.cc").read_text())
    bad = [] if table == code and len(code) == 12 else [f"ARCHITECTURE.md has {table}, result.cc has {code}"]
    return bad, f"{len(code)} error codes"


def check_cli(binary):
    wanted = subprocess.run([binary, "help", "--markdown"], capture_output=True, text=True, check=True).stdout
    have = (ROOT / "docs/cli.md").read_text()
    bad = [] if wanted == have else ["docs/cli.md differs from `daybreak help --markdown`; write that to it"]
    return bad, f"{len(wanted.splitlines())} lines of docs/cli.md"


def check_run(binary):
    env = dict(os.environ, PATH=f"{pathlib.Path(binary).resolve().parent}:{os.environ['PATH']}")
    bad = []
    count = 0
    for doc in documents():
        for block in re.findall(r"<!-- run -->\n```sh\n(.*?)```", doc.read_text(), re.S):
            count += 1
            done = subprocess.run(["bash", "-euo", "pipefail", "-c", block], cwd=ROOT, env=env,
                                  capture_output=True, text=True, timeout=120)
            if done.returncode != 0:
                bad.append(f"{doc.relative_to(ROOT)}: exit {done.returncode} from\n{block}{done.stderr[-2000:]}")
    if count == 0:
        bad.append("no runnable block found")
    return bad, f"{count} command blocks"


def main():
    what, *args = sys.argv[1:]
    checks = {"links": check_links, "errors": check_errors, "cli": check_cli, "run": check_run}
    bad, summary = checks[what](*args)
    for line in bad:
        print(line)
    if bad:
        sys.exit(1)
    print(f"{what}: {summary} hold")


if __name__ == "__main__":
    main()
