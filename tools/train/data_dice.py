# SPDX-License-Identifier: Apache-2.0
"""Seeded choices for the data generator, and the line between training and held-out material.

Every choice of a conversation comes from one Dice named by (seed, split, number), so any conversation can be made
again alone. What tells the splits apart: `part` (names, phrasings: every fourth entry is held out), `number` and
`word` (a hash of the value decides), `mine` (the same for any other value).
"""

import random
import zlib

TRAIN, HELD_OUT = "train", "held-out"
_ONSETS = (
    "b",
    "br",
    "c",
    "d",
    "dr",
    "f",
    "g",
    "gl",
    "h",
    "j",
    "k",
    "l",
    "m",
    "n",
    "p",
    "pl",
    "r",
    "s",
    "st",
    "t",
    "tr",
    "v",
    "w",
    "z",
)
_VOWELS = ("a", "e", "i", "o", "u", "ai", "ea", "oo")
_CODAS = ("", "", "", "l", "m", "n", "r", "s", "t", "x")


class Dice:
    """A stream of choices."""

    def __init__(self, seed, split, number):
        if split not in (TRAIN, HELD_OUT):
            raise ValueError(f"split: expected {TRAIN} or {HELD_OUT}, found {split}")
        self.split = split
        self._random = random.Random(f"{seed}/{split}/{number}")

    def below(self, bound):
        return self._random.randrange(bound)

    def between(self, low, high):
        return self._random.randint(low, high)

    def chance(self, probability):
        return self._random.random() < probability

    def pick(self, options):
        return options[self.below(len(options))]

    def weighted(self, weights):
        """A key of {key: weight}."""
        return self._random.choices(list(weights), list(weights.values()))[0]

    def some(self, options, count):
        return self._random.sample(list(options), count)

    def shuffled(self, options):
        return self.some(options, len(options))

    def part(self, options):
        """An entry of this split: held out are the entries 3, 7, 11, ... of the list."""
        return self.pick(options[3::4] if self.split == HELD_OUT else [o for i, o in enumerate(options) if i % 4 != 3])

    def parts(self, options, count):
        """Different entries of this split."""
        return self.some(
            options[3::4] if self.split == HELD_OUT else [o for i, o in enumerate(options) if i % 4 != 3], count
        )

    def mine(self, value):
        """Whether a value belongs to this split: a fifth of all values is held out."""
        return (zlib.crc32(repr(value).encode()) % 5 == 0) == (self.split == HELD_OUT)

    def number(self, low, high):
        """An integer in [low, high] of this split; small ranges, where that would leave too few, are not split."""
        if high - low < 40:
            return self.between(low, high)
        while True:
            value = self.between(low, high)
            if self.mine(value):
                return value

    def word(self):
        """A made-up word."""
        while True:
            count = self.pick((2, 2, 2, 3))
            made = "".join(self.pick(_ONSETS) + self.pick(_VOWELS) + self.pick(_CODAS) for _ in range(count))
            if self.mine(made):
                return made

    def code(self):
        """Letters and digits such as an order number."""
        while True:
            letters = "".join(self.pick("ABCDEFGHKLMNPRSTUVWXYZ") for _ in range(self.between(1, 3)))
            made = letters + self.pick(("", "-")) + str(self.between(10, 9999))
            if self.mine(made):
                return made
