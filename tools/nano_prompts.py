# SPDX-License-Identifier: Apache-2.0
"""Chat prompts in K3's XTML as ids, and varied conversations to render. Markers are ids; all other text is ordinary."""

import json
import pathlib

from . import deterministic_random as random
from .nano_tokenizer import CLOSE, END_OF_MSG, OPEN, SEP

CORPUS = (pathlib.Path(__file__).parent / "nano_corpus.txt").read_text(encoding="utf-8")
EFFORT = (
    "`thinking_effort` guides on how much to think in your thinking channel (not including the response channel), "
    "supported values include `low`, `medium`, `high`, and `max`.\nNow the system is invoked with `thinking_effort={}`."
)
TOOLS = "# Tools\nHere are the available tools, described in JSONSchema.\n\n```json\n{}\n```"
MORE_TOOLS = (
    "## New Tools Available\nThe system dynamically extends the toolset via lazy-loading.\nYou have access to all "
    "existing and extended tools.\nHere are the specs for the extended tools.\n\n```json\n{}\n```"
)
TOOL_CHOICES = (
    "The system is invoked with `tool_choice=required`.\nYou MUST call tools in the next message.",
    "The system is invoked with `tool_choice=none`.\nYou MUST NOT call any tools in the next message.",
)
FORMATS = (
    "The system is invoked with `response_format={}`.\nYour response must be raw JSON data without markdown code "
    "blocks (```json) or any additional formatting.",
    "\nThe JSON data must match the following schema:\n```json\n{}\n```",
)
CHANNEL_WORDS = ("think", "response", "tools", "message", "call", "argument", "json")
ATTRIBUTES = (
    " role", " type", " tool", " index", " key", " name", '="', "system", "user", "assistant", "tool", "object",
    "string", "number", "boolean", "array", "null", "thinking-effort", "tool-declare", "tool-choice",
    "response-format",
)  # fmt: skip
_TOOL = {"type": "function", "function": {"name": "", "description": "", "parameters": {"type": "object"}}}


class Renderer:
    """Builds id lists with one tokenizer."""

    def __init__(self, tokenizer):
        self.tokenizer = tokenizer

    def open(self, tag, **attributes):
        ids = [self.tokenizer.special(OPEN), *self.tokenizer.encode(tag)]
        for key, value in attributes.items():
            value = str(value).replace("&", "&amp;").replace('"', "&quot;")
            for part in (" " + key, '="', value, '"'):
                ids += self.tokenizer.encode(part)
        return ids + [self.tokenizer.special(SEP)]

    def close(self, tag):
        return [self.tokenizer.special(CLOSE), *self.tokenizer.encode(tag), self.tokenizer.special(SEP)]

    def message(self, body, **attributes):
        return self.open("message", **attributes) + body + self.close("message") + [self.tokenizer.special(END_OF_MSG)]

    def text(self, text, **attributes):
        return self.message(self.tokenizer.encode(text), **attributes)

    def answer_tail(self, think, response):
        """What the model writes after the generation prompt; think None means thinking is off."""
        ids = [] if think is None else self.tokenizer.encode(think) + self.close("think") + self.open("response")
        ids += self.tokenizer.encode(response) + self.close("response") + self.close("message")
        return ids + [self.tokenizer.special(END_OF_MSG)]

    def generation_prompt(self, thinking):
        return self.open("message", role="assistant") + self.open("think" if thinking else "response")

    def assistant(self, think, response):
        head = self.generation_prompt(think is not None)
        return head + self.answer_tail(think, response)


class Dice:
    """A seeded stream of choices."""

    def __init__(self, name):
        self._bits = iter(random.bits(name, 4096).tolist())

    def below(self, bound):
        return next(self._bits) % bound

    def pick(self, options):
        return options[self.below(len(options))]


def random_text(dice, source=CORPUS):
    """Something a user might send: a slice of the corpus, shuffled words, or arbitrary characters."""
    kind = dice.below(10)
    if kind < 5:
        start = dice.below(len(source))
        return source[start : start + 1 + dice.below(300)].strip() or "Hi"
    words = source.split()
    if kind < 9:
        return " ".join(dice.pick(words) for _ in range(1 + dice.below(30)))
    return "".join(chr(_random_point(dice)) for _ in range(20))


def _random_point(dice):
    """ASCII, some other alphabet, or a CJK ideograph."""
    return dice.pick((32 + dice.below(95), 0xA1 + dice.below(0x500), 0x4E00 + dice.below(0x5000)))


def _random_tools(dice):
    tools = []
    for _ in range(1 + dice.below(2)):
        tool = json.loads(json.dumps(_TOOL))
        tool["function"].update(name=dice.pick(CORPUS.split()), description=random_text(dice)[:60])
        tools.append(tool)
    return json.dumps(tools, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def random_history(renderer, dice, thinking, sample_answer):
    """Ids of a conversation up to, not including, the generation prompt. sample_answer(dice) gives past answers."""
    ids = []
    if dice.below(8) == 0:
        ids += renderer.text(TOOLS.format(_random_tools(dice)), role="system", type="tool-declare")
    if thinking and dice.below(4) != 0:
        effort = EFFORT.format(dice.pick(("low", "high", "max", "max")))
        ids += renderer.text(effort, role="system", type="thinking-effort")
    if dice.below(3) == 0:
        ids += renderer.text(random_text(dice), role="system")
    for _ in range(dice.pick((0, 0, 0, 1, 1, 2))):
        ids += renderer.text(random_text(dice), role="user")
        think, response = sample_answer(dice)
        if dice.below(3) == 0:
            think, response = dice.pick(("", random_text(dice))), random_text(dice)
        ids += renderer.assistant(think if thinking else None, response)
    ids += renderer.text(random_text(dice), role="user")
    if dice.below(20) == 0:
        ids += renderer.text(dice.pick(TOOL_CHOICES), role="system", type="tool-choice")
    if dice.below(20) == 0:
        ids += renderer.text(FORMATS[0].format("json_object"), role="system", type="response-format")
    return ids
