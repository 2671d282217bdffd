# SPDX-License-Identifier: Apache-2.0
"""Packs conversations into batches of fixed shape, in an order that depends on nothing but the seed.

A conversation goes to the bucket of the shortest rows it fits in; a bucket's batch is given out when the next
conversation finds no room in it. The stream can be saved as a few lists of numbers and goes on exactly.
"""

import dataclasses

import numpy as np

from . import data_mix
from .data_dice import TRAIN, Dice
from .data_render import flat

BATCH_TOKENS = 8192
ROWS = (512, 1024, 4096)  # lengths of rows; a batch of each has BATCH_TOKENS
LEARNT = 2560  # learnt tokens a batch has room for
SKILLS = ("chat", "tools", "results", "json", "recall", "effort", "arithmetic", "lists", "phrases", "pictures")
LONG_FROM, LONG_SHARE = 300_000, 0.012  # conversations with long recall: from which number on, and how many of them


def conversation(number):
    """Training conversation `number`; later ones may be long."""
    dice = Dice(data_mix.SEED + " curriculum", TRAIN, number)
    if number >= LONG_FROM and dice.chance(LONG_SHARE):
        return data_mix.long_recall(TRAIN, number, dice.between(2_500, 14_000))
    return data_mix.sample(TRAIN, number)


@dataclasses.dataclass
class Batch:
    """Arrays of one step. places index the flattened rows; the token there predicts targets; weights 0 pad them."""

    ids: np.ndarray
    segments: np.ndarray
    places: np.ndarray
    targets: np.ndarray
    weights: np.ndarray
    skills: np.ndarray


class Bucket:
    """The batch being filled for one row length."""

    def __init__(self, length):
        self.length, self.numbers, self.rows, self.learnt = length, [], [[] for _ in range(BATCH_TOKENS // length)], 0

    def add(self, number, ids, learnt, skill, opened=False):
        """Whether it fitted; with `opened` only rows that have something in them are tried."""
        room = [self.length - sum(len(r[0]) for r in row) for row in self.rows]
        best = min((r for r in range(len(room)) if room[r] >= len(ids) and (self.rows[r] or not opened)), key=lambda r: room[r], default=None)
        count = sum(learnt[1:])
        if best is None or self.learnt + count > LEARNT:
            return False
        self.numbers.append(number)
        self.rows[best].append((ids, learnt, skill))
        self.learnt += count
        return True

    def batch(self):
        shape = (len(self.rows), self.length)
        ids, segments = np.zeros(shape, np.int32), np.full(shape, -1, np.int32)
        places, targets, skills = [], [], []
        for r, row in enumerate(self.rows):
            start = 0
            for document, (tokens, learnt, skill) in enumerate(row):
                ids[r, start : start + len(tokens)] = tokens
                segments[r, start : start + len(tokens)] = document
                for i in range(1, len(tokens)):
                    if learnt[i]:
                        places.append(r * self.length + start + i - 1)
                        targets.append(tokens[i])
                        skills.append(skill)
                start += len(tokens)
        pad = LEARNT - len(places)
        weights = np.pad(np.ones(len(places), np.float32), (0, pad))
        return Batch(ids, segments, *(np.pad(np.asarray(x, np.int32), (0, pad)) for x in (places, targets)), weights, np.pad(np.asarray(skills, np.int32), (0, pad)))


class Stream:
    """Endless batches; `saved` is what save() returned."""

    def __init__(self, renderer, saved=None):
        self.renderer = renderer
        self.buckets = {length: Bucket(length) for length in ROWS}
        self.next = 0
        if saved is not None:
            self.next = saved["next"]
            for length, numbers in saved["pending"].items():
                for number in numbers:
                    if not self.buckets[int(length)].add(number, *self._rendered(number)):
                        raise ValueError(f"saved stream: conversation {number} no longer fits its batch; was the generator changed?")

    def save(self):
        return {"next": self.next, "pending": {str(length): b.numbers for length, b in self.buckets.items()}}

    def _rendered(self, number):
        sample = conversation(number)
        ids, learnt = flat(self.renderer.whole(sample))
        return ids, learnt, SKILLS.index(sample.skill)

    def __next__(self):
        while True:
            number, self.next = self.next, self.next + 1
            rendered = self._rendered(number)
            length = next((n for n in ROWS if n >= len(rendered[0])), None)
            if length is None or sum(rendered[1]) > LEARNT:
                continue  # longer than any row
            longer = [n for n in ROWS if n > length]
            if any(self.buckets[n].add(number, *rendered, opened=True) for n in longer):
                continue  # fills what a long one left
            if self.buckets[length].add(number, *rendered):
                continue
            full, self.buckets[length] = self.buckets[length], Bucket(length)
            self.buckets[length].add(number, *rendered)
            return full.batch()

    def __iter__(self):
        return self


def register():
    """Lets JAX pass a Batch into compiled functions."""
    import jax

    names = [f.name for f in dataclasses.fields(Batch)]
    jax.tree_util.register_dataclass(Batch, data_fields=names, meta_fields=[])
