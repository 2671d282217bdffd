# SPDX-License-Identifier: Apache-2.0
"""Writes the questions of `daybreak exam`: held-out conversations without their last answer, one JSON object a line.

    python3 -m tools.train.questions [--out models/nano/exam.jsonl] [--check]
    python3 -m tools.train.questions --long 8k --long 16k --out FILE

Which questions there are depends on nothing but the generator. --check compares with the file instead of writing it.
--long asks for facts about that many tokens back, which the bundled file has up to 4k. Needs Python alone.
"""

import argparse
import base64
import json
import pathlib
import struct
import sys
import zlib

from . import data_mix, data_pictures
from .data_catalogue import CATALOGUE
from .data_dice import HELD_OUT

DEFAULT_OUT = pathlib.Path(__file__).parent.parent.parent / "models" / "nano" / "exam.jsonl"
MAX_BYTES = 2_000_000
# Questions of each skill, in the order of the report.
COUNTS = {
    "chat": 80, "tools": 80, "tools_unseen": 80, "results": 60, "json": 80, "recall": 60, "recall_1k": 60, "recall_4k": 40,
    "effort": 40, "arithmetic": 60, "lists": 60, "pictures": 80, "phrases": 40,
}  # fmt: skip
# Characters of text around the facts; the trained vocabulary has some 2.6 of them to a token.
DISTANCES = {"recall_1k": 2_600, "recall_4k": 10_400, "recall_8k": 20_800, "recall_16k": 41_600}
LONG = {"8k": ("recall_8k", 20), "16k": ("recall_16k", 20)}
_SEEN = [entry.schemas for entry in CATALOGUE]
_MAX_TRIES = 100_000


def png(picture):
    """The drawn picture as a PNG of up to four colours. Nothing is compressed, so the bytes are every zlib's."""
    palette, rows = data_pictures.indexed(picture)
    lines = b"".join(
        b"\0" + bytes(a << 6 | b << 4 | c << 2 | d for a, b, c, d in zip(*(row[i::4] for i in range(4)))) for row in rows
    )
    stored = b"\x78\x01\x01" + struct.pack("<HH", len(lines), len(lines) ^ 0xFFFF) + lines
    stored += struct.pack(">I", zlib.adler32(lines))

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = struct.pack(">IIBBBBB", data_pictures.SIZE, data_pictures.SIZE, 2, 3, 0, 0, 0)
    colours = b"".join(map(bytes, palette))
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"PLTE", colours)
        + chunk(b"IDAT", stored)
        + chunk(b"IEND", b"")
    )


def _content(content, pictures):
    """A message's content as clients send it, with the pictures in it."""
    if isinstance(content, str):
        return content
    parts, waiting = [], iter(pictures)
    for part in content:
        if part["type"] == "image_url":
            url = "data:image/png;base64," + base64.b64encode(png(next(waiting))).decode()
            part = {"type": "image_url", "image_url": {"url": url}}
        parts.append(part)
    return parts


def request(sample):
    """The body of a chat completion, without what the one who asks decides."""
    pictures = sample.expect.get("pictures", [])
    body = {"messages": [{**m, "content": _content(m["content"], pictures)} for m in sample.messages[:-1]]}
    if sample.tools:
        body["tools"] = sample.tools
        if sample.tool_choice != "auto":
            body["tool_choice"] = sample.tool_choice
    if sample.response_format is not None:
        body["response_format"] = sample.response_format
    if sample.effort is None:
        body["thinking"] = {"type": "disabled"}
    else:
        body["thinking"] = {"type": "enabled", "effort": sample.effort}
    return body


def _unseen(sample):
    """Whether a tool to be called has parameters that no conversation of the training has declared."""
    called = {c["name"] for c in sample.expect.get("calls", [])}
    declared = [t["function"] for t in sample.tools]
    return any(f["name"] in called and not _is_seen(f) for f in declared)


def _is_seen(function):
    shown = function.get("parameters", {}).get("properties", {})
    return not shown or shown in _SEEN


def _skill(sample):
    return "tools_unseen" if sample.skill == "tools" and _unseen(sample) else sample.skill


def _samples(skill, number):
    """Conversation `number` among which those of a skill are looked for."""
    if skill in DISTANCES:
        return data_mix.long_recall(HELD_OUT, number, DISTANCES[skill])
    return data_mix.sample(HELD_OUT, number, pictures=True)


def questions(skill, count):
    """`count` different questions of a skill."""
    found, number = {}, 0
    while len(found) < count:
        if number == _MAX_TRIES:
            raise AssertionError(f"{skill}: expected {count} different questions, found {len(found)}")
        sample = _samples(skill, number)
        number += 1
        if skill not in DISTANCES and _skill(sample) != skill:
            continue
        asked = request(sample)
        expect = {key: value for key, value in sample.expect.items() if key != "pictures"}
        key = json.dumps(asked, sort_keys=True)
        found.setdefault(key, {"id": f"{skill}-{len(found)}", "skill": skill, "request": asked, "expect": expect})
    return list(found.values())


def lines(counts):
    """The file's text."""
    rows = [q for skill, count in counts.items() for q in questions(skill, count)]
    return "".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in rows)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=DEFAULT_OUT)
    parser.add_argument("--long", action="append", choices=sorted(LONG), default=[])
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args(arguments)
    if options.long:
        if options.out == DEFAULT_OUT:
            parser.error("--long: expected --out FILE beside it: the bundled file has no long questions")
        text = lines(dict(LONG[length] for length in options.long))
    else:
        text = lines(COUNTS)
        if len(text.encode()) > MAX_BYTES:
            raise AssertionError(f"{options.out}: expected at most {MAX_BYTES} bytes, found {len(text.encode())}")
    if options.check:
        same = options.out.read_bytes() == text.encode()
        print("identical" if same else f"{options.out}: differs from what the generator makes")
        return 0 if same else 1
    options.out.write_bytes(text.encode())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
