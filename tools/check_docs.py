#!/usr/bin/env python3
"""Keeps the documents true.

  links      every relative link in *.md exists
  errors     the error table in ARCHITECTURE.md equals the enum's own table
  cli BIN    docs/cli.md equals `daybreak help --markdown`
  deploy BIN docs/deployment.md lists the libraries BIN is linked with (Debian 12), deploy/Dockerfile installs their
             packages, and systemd takes deploy/daybreak.service
  run BIN    every ```sh block that follows a line `<!-- run -->` succeeds (cwd: the checkout)
"""
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

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


def needed_libraries(binary):
    """Names that the dynamic section of a 64-bit little-endian ELF file needs."""
    data = pathlib.Path(binary).read_bytes()
    (sections,) = struct.unpack_from("<Q", data, 0x28)
    size, count = struct.unpack_from("<HH", data, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, sections + i * size) for i in range(count)]
    dynamic = next(header for header in headers if header[1] == 6)  # SHT_DYNAMIC
    strings = headers[dynamic[6]][4]
    entries = struct.iter_unpack("<QQ", data[dynamic[4] : dynamic[4] + dynamic[5]])
    starts = [strings + value for tag, value in entries if tag == 1]  # DT_NEEDED
    return {data[start : data.index(b"\0", start)].decode() for start in starts}


def unit_faults(binary):
    """What systemd says of the unit, with this binary in the place of the installed one."""
    if shutil.which("systemd-analyze") is None:
        return []
    text = (ROOT / "deploy/daybreak.service").read_text()
    with tempfile.TemporaryDirectory() as folder:
        unit = pathlib.Path(folder) / "daybreak.service"
        unit.write_text(text.replace("/usr/local/bin/daybreak", str(pathlib.Path(binary).resolve())))
        done = subprocess.run(["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, check=False)
    said = [line for line in (done.stdout + done.stderr).splitlines() if "daybreak.service" in line]
    return said or ([] if done.returncode == 0 else [f"systemd-analyze verify: exit {done.returncode}"])


def check_deploy(binary):
    rows = re.findall(r"^\| (`lib\S+\.so\.\S+`.*?) \| `(\S+)` \|", (ROOT / "docs/deployment.md").read_text(), re.M)
    listed = {name for libraries, _ in rows for name in re.findall(r"`([^`]+)`", libraries)}
    packages = {package for _, package in rows} - {"libc6"}
    needed = {name for name in needed_libraries(binary) if not name.startswith("ld-linux")}
    installed = set(re.findall(r"^ {6}(lib\S+) \\$", (ROOT / "deploy/Dockerfile").read_text(), re.M))
    bad = [f"docs/deployment.md does not list {name}" for name in sorted(needed - listed)]
    bad += [f"docs/deployment.md lists {name}, which is not needed" for name in sorted(listed - needed)]
    bad += [f"deploy/Dockerfile and docs/deployment.md differ in {name}" for name in sorted(packages ^ installed)]
    bad += unit_faults(binary)
    return bad, f"{len(needed)} libraries and the unit"


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
    checks = {"links": check_links, "errors": check_errors, "cli": check_cli, "deploy": check_deploy,
              "run": check_run}
    bad, summary = checks[what](*args)
    for line in bad:
        print(line)
    if bad:
        sys.exit(1)
    print(f"{what}: {summary} hold")


if __name__ == "__main__":
    main()
