# SPDX-License-Identifier: Apache-2.0
"""What the bundled model says: sentences with a few equally likely wordings.

Each wording is recognisable from the last few tokens, because that is all the fitted readout can rely on.
"""

_THINK = (
    ("The user wrote something, ", "The user sent a message, "),
    ("but I was never trained.", "but nobody trained me."),
    (" So I will say what I am.", " Let me say what I am.", " I can only introduce myself."),
)
_RESPONSE = (
    ("Hello", "Hi", "Welcome"),
    ("! I am the tiny demo model", "! This is the small test model"),
    (" bundled with Daybreak.",),
    (" My weights are random numbers", " Most of my weights are noise"),
    (" and only the last layer was fitted,",),
    (" so I cannot answer questions.", " which is why I always repeat this text."),
    (" For real answers,", " To get a useful reply,"),
    (" start the server with another checkpoint: `daybreak serve DIRECTORY`",),
)


def sample(dice):
    """(thinking text, response text), uniform over the wordings."""
    think = "".join(dice.pick(options) for options in _THINK)
    return think, "".join(dice.pick(options) for options in _RESPONSE)


def openings():
    """The ways a response may begin; where the readout recognises nothing it begins a response."""
    return _RESPONSE[0]


def all_text():
    """Every wording, for the vocabulary."""
    return ["".join(part) for slots in (_THINK, _RESPONSE) for part in slots]


def is_think(text):
    return _matches(text, _THINK)


def is_response(text):
    return _matches(text, _RESPONSE)


def _matches(text, slots):
    ends = {0}
    for options in slots:
        ends = {end + len(o) for end in ends for o in options if text.startswith(o, end)}
    return len(text) in ends
