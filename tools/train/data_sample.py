# SPDX-License-Identifier: Apache-2.0
"""One conversation of the training data."""

import dataclasses

EFFORTS = ("low", "high", "max")


@dataclasses.dataclass
class Sample:
    """messages ends with the assistant's message to learn; earlier assistant messages are learnt too.

    expect says how a held-out answer is judged (see data_judge). effort None means that thinking is off.
    """

    skill: str
    messages: list
    expect: dict
    effort: str = None
    tools: list = None
    tool_choice: str = "auto"
    response_format: dict = None

    def request(self):
        """The value `daybreak render` takes for the prompt of the last message."""
        kwargs = {"thinking": self.effort is not None}
        if self.effort is not None:
            kwargs["thinking_effort"] = self.effort
        if self.tool_choice != "auto":
            kwargs["tool_choice"] = self.tool_choice
        if self.response_format is not None:
            kwargs["response_format"] = self.response_format
        value = {"messages": self.messages[:-1], "kwargs": kwargs}
        if self.tools:
            value["tools"] = self.tools
        return value


def effort_of(dice):
    """Thinking off, or an effort; max is what a server uses when nothing is asked."""
    return dice.weighted({None: 25, "low": 20, "high": 20, "max": 35})


def thoughts(dice, effort, *sentences):
    """Reasoning whose length follows the effort: one sentence, two, or all of them and a closing one."""
    if effort is None:
        return None
    if effort == "low":
        return sentences[0]
    if effort == "high":
        return " ".join(sentences[:2])
    closing = dice.pick(
        ("That is all I need.", "Now I answer.", "I check it once more: it is right.", "This is clear.")
    )
    return " ".join([*sentences, closing])


def user(text):
    return {"role": "user", "content": text}


def assistant(text, think=None, calls=None):
    message = {"role": "assistant", "content": text}
    if think is not None:
        message["reasoning_content"] = think
    if calls:
        message["tool_calls"] = calls
    return message
