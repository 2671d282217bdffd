# SPDX-License-Identifier: Apache-2.0
"""K3's XTML for the conversations of the generator, as runs of ids with what is to be learnt marked.

Each text is encoded alone, as the product's renderer does: joined text would merge differently at the seams.
"""

import json

from .. import nano_tokenizer as special
from ..nano_prompts import EFFORT, FORMATS, TOOL_CHOICES, TOOLS

MEDIA_BEGIN, MEDIA_CONTENT, MEDIA_END = 18, 19, 20
PIXELS_PER_TOKEN = 28


def sorted_json(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _kind(value):
    names = {
        bool: "boolean",
        type(None): "null",
        int: "number",
        float: "number",
        str: "string",
        dict: "object",
        list: "array",
    }
    return names[type(value)]


class Renderer:
    """Renders with one tokenizer (encode(text) and special(offset)). A rendering is a list of (ids, learnt)."""

    def __init__(self, tokenizer):
        self.tokenizer = tokenizer
        self._mark = {
            name: [tokenizer.special(o)]
            for name, o in (
                ("open", special.OPEN),
                ("close", special.CLOSE),
                ("sep", special.SEP),
                ("end", special.END_OF_MSG),
            )
        }

    def _open(self, tag, **attributes):
        ids = self._mark["open"] + self.tokenizer.encode(tag)
        for key, value in attributes.items():
            value = str(value).replace("&", "&amp;").replace('"', "&quot;")
            for part in (" " + key, '="', value, '"'):
                ids = ids + self.tokenizer.encode(part)
        return ids + self._mark["sep"]

    def _close(self, tag):
        return self._mark["close"] + self.tokenizer.encode(tag) + self._mark["sep"]

    def _message(self, body, **attributes):
        return self._open("message", **attributes) + body + self._close("message") + self._mark["end"]

    def _system(self, text, kind):
        return self._message(self.tokenizer.encode(text), role="system", type=kind)

    def _content(self, content):
        if isinstance(content, str):
            return self.tokenizer.encode(content)
        ids = []
        for part in content:
            ids += (
                self.tokenizer.encode(part["text"])
                if part["type"] == "text"
                else self._image(part["width"], part["height"])
            )
        return ids

    def _image(self, width, height):
        count = -(-width // PIXELS_PER_TOKEN) * -(-height // PIXELS_PER_TOKEN)
        tokenizer = self.tokenizer
        pads = [tokenizer.special(special.MEDIA_PAD)] * count
        size = tokenizer.encode(f"image {width}x{height}")
        return [
            tokenizer.special(MEDIA_BEGIN),
            *size,
            tokenizer.special(MEDIA_CONTENT),
            *pads,
            tokenizer.special(MEDIA_END),
        ]

    def _call(self, call, index):
        function, encode = call["function"], self.tokenizer.encode
        ids = self._open("call", tool=function["name"], index=index)
        for key, value in json.loads(function["arguments"]).items():
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            ids += self._open("argument", key=key, type=_kind(value)) + encode(text) + self._close("argument")
        return ids + self._close("call")

    def stub(self, effort):
        """What opens the model's answer and is not learnt."""
        return self._open("message", role="assistant") + self._open("response" if effort is None else "think")

    def answer(self, message, effort):
        """What the model writes after the stub."""
        ids = []
        if effort is not None:
            ids += (
                self.tokenizer.encode(message.get("reasoning_content") or "")
                + self._close("think")
                + self._open("response")
            )
        ids += self.tokenizer.encode(message["content"]) + self._close("response")
        if message.get("tool_calls"):
            ids += self._open("tools")
            for index, call in enumerate(message["tool_calls"], 1):
                ids += self._call(call, index)
            ids += self._close("tools")
        return ids + self._close("message") + self._mark["end"]

    def _history(self, messages, effort):
        runs, calls, answered = [], [], 0
        for message in messages:
            role = message["role"]
            if role == "assistant":
                calls, answered = message.get("tool_calls", []), 0
                runs += [(self.stub(effort), False), (self.answer(message, effort), True)]
            elif role == "tool":
                name, answered = calls[answered]["function"]["name"], answered + 1
                runs.append(
                    (self._message(self._content(message["content"]), role="tool", tool=name, index=answered), False)
                )
            else:
                runs.append((self._message(self._content(message["content"]), role=role), False))
        return runs

    def _before(self, sample):
        runs = []
        if sample.tools:
            runs.append((self._system(TOOLS.format(sorted_json(sample.tools)), "tool-declare"), False))
        if sample.effort is not None:
            runs.append((self._system(EFFORT.format(sample.effort), "thinking-effort"), False))
        return runs

    def _after(self, sample):
        runs = []
        if sample.tool_choice != "auto":
            text = TOOL_CHOICES[("required", "none").index(sample.tool_choice)]
            runs.append((self._system(text, "tool-choice"), False))
        if sample.response_format is not None:
            text = FORMATS[0].format(sample.response_format["type"])
            if sample.response_format["type"] == "json_schema":
                text += FORMATS[1].format(sorted_json(sample.response_format["json_schema"]["schema"]))
            runs.append((self._system(text, "response-format"), False))
        return runs

    def prompt(self, sample):
        """The runs up to the stub of the last message, with it."""
        history = self._history(sample.messages[:-1], sample.effort)
        return [*self._before(sample), *history, *self._after(sample), (self.stub(sample.effort), False)]

    def whole(self, sample):
        """The runs of the prompt and of the answer to learn."""
        return [*self.prompt(sample), (self.answer(sample.messages[-1], sample.effort), True)]


def flat(runs):
    """(ids, learnt) as two lists of equal length."""
    ids, learnt = [], []
    for run, mark in runs:
        ids += run
        learnt += [mark] * len(run)
    return ids, learnt
