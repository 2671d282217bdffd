# SPDX-License-Identifier: Apache-2.0
"""Reads what the model wrote, strictly, and says whether it is what a held-out conversation expects."""

import json

from .. import nano_tokenizer as special


class _Reader:
    """Walks over generated ids. Every method raises ValueError where the format is broken."""

    def __init__(self, tokenizer, ids):
        self.tokenizer, self.ids, self.at = tokenizer, ids, 0
        self.marks = {tokenizer.special(o): o for o in (special.OPEN, special.CLOSE, special.SEP, special.END_OF_MSG)}

    def text(self):
        """The text up to the next marker."""
        start = self.at
        while self.at < len(self.ids) and self.ids[self.at] < len(self.tokenizer.vocabulary):
            self.at += 1
        return b"".join(self.tokenizer.vocabulary[i] for i in self.ids[start : self.at]).decode("utf-8", "replace")

    def mark(self, offset):
        if self.at >= len(self.ids) or self.marks.get(self.ids[self.at]) != offset:
            raise ValueError(f"place {self.at}: expected marker {offset}")
        self.at += 1

    def next_is(self, offset):
        return self.at < len(self.ids) and self.marks.get(self.ids[self.at]) == offset

    def open(self):
        """(tag, attributes) of an opening."""
        self.mark(special.OPEN)
        head = self.text()
        self.mark(special.SEP)
        tag, _, rest = head.partition(" ")
        parts = rest.split('"')
        attributes = {}
        for key, value in zip(parts[0::2], parts[1::2]):
            attributes[key.strip().rstrip("=")] = value.replace("&quot;", '"').replace("&amp;", "&")
        return tag, attributes

    def expect_open(self, tag):
        found, attributes = self.open()
        if found != tag:
            raise ValueError(f"expected {tag} to open, found {found}")
        return attributes

    def close(self, tag):
        self.mark(special.CLOSE)
        if self.text() != tag:
            raise ValueError(f"expected {tag} to close")
        self.mark(special.SEP)


def _value(kind, text):
    if kind == "string":
        return text
    value = _parsed(text)
    kinds = {"boolean": bool, "number": (int, float), "object": dict, "array": list, "null": type(None)}
    if not isinstance(value, kinds[kind]) or (kind == "number" and isinstance(value, bool)):
        raise ValueError(f"{text}: expected {kind}")
    return value


def _calls(reader):
    calls = []
    while reader.next_is(special.OPEN):
        head = reader.expect_open("call")
        if head["index"] != str(len(calls) + 1):
            raise ValueError(f"index {head['index']} of call {len(calls) + 1}")
        arguments = {}
        while reader.next_is(special.OPEN):
            one = reader.expect_open("argument")
            text = reader.text()
            reader.close("argument")
            arguments[one["key"]] = _value(one["type"], text)
        reader.close("call")
        calls.append({"name": head["tool"], "arguments": arguments})
    return calls


def parse(tokenizer, ids, thinking):
    """{"think", "content", "calls"} of a whole answer after its stub; None if it is not well-formed."""
    reader, think, calls = _Reader(tokenizer, ids), None, []
    try:
        if thinking:
            think = reader.text()
            reader.close("think")
            reader.expect_open("response")
        content = reader.text()
        reader.close("response")
        if reader.next_is(special.OPEN):
            reader.expect_open("tools")
            calls = _calls(reader)
            reader.close("tools")
        reader.close("message")
        reader.mark(special.END_OF_MSG)
    except (ValueError, KeyError):
        return None
    return {"think": think, "content": content, "calls": calls} if reader.at == len(ids) else None


def _parsed(text):
    def refuse(constant):
        raise ValueError(constant)

    return json.loads(text, parse_constant=refuse)


def _same(a, b):
    """Equality of JSON values: 1 is 1.0, but not true as Python would have it."""
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_same(value, b[key]) for key, value in a.items())
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(_same, a, b))
    return a == b


def right(expect, answer):
    """Whether a parsed answer is what was expected. `daybreak exam` judges the same: testdata/exam/answers.jsonl."""
    if answer is None:
        return False
    if not _same(answer["calls"], expect.get("calls", [])):
        return False
    if "json" in expect:
        try:
            return _same(_parsed(answer["content"]), expect["json"])
        except (ValueError, RecursionError):
            return False
    return "any" not in expect or answer["content"] in expect["any"]
