# SPDX-License-Identifier: Apache-2.0
"""Packs conversations into batches of fixed shape, in an order that depends on nothing but the seed.

A conversation goes to the bucket of the shortest rows it fits in; a bucket's batch is given out when the next
conversation finds no room in it. The stream can be saved as a few lists of numbers and goes on exactly.
"""

import dataclasses

import numpy as np

from .. import nano_tokenizer as special
from . import data_mix, data_pictures, vision
from .data_dice import TRAIN, Dice
from .data_render import flat

BATCH_TOKENS = 8192
ROWS = (512, 1024, 4096)  # lengths of rows; a batch of each has BATCH_TOKENS
LEARNT = 2560  # learnt tokens a batch has room for
SKILLS = ("chat", "tools", "results", "json", "recall", "effort", "arithmetic", "lists", "phrases", "pictures")
# Conversations with recall over a distance: from which number on, how many of them, characters of other text.
CURRICULUM = ((40_000, 0.03, (300, 1_900)), (150_000, 0.012, (1_900, 10_000)))


PICTURES = 12  # pictures a batch has room for, once there are any
PATCH = 14
PICTURE_TOKENS = (data_pictures.SIZE // 28) ** 2


def conversation(number, pictures_from=None):
    """Training conversation `number`; later ones may be long, and those from `pictures_from` on may have pictures."""
    dice = Dice(data_mix.SEED + " curriculum", TRAIN, number)
    for first, share, characters in CURRICULUM:
        if number >= first and dice.chance(share):
            return data_mix.long_recall(TRAIN, number, dice.between(*characters))
    return data_mix.sample(TRAIN, number, pictures=pictures_from is not None and number >= pictures_from)


@dataclasses.dataclass
class Batch:
    """Arrays of one step. places index the flattened rows; the token there predicts targets; weights 0 pad them.

    pixels [PICTURES, patches, values] go to the flattened places pads; unused ones lie behind the end. Both are empty
    while there are no pictures.
    """

    ids: np.ndarray
    segments: np.ndarray
    places: np.ndarray
    targets: np.ndarray
    weights: np.ndarray
    skills: np.ndarray
    pixels: np.ndarray
    pads: np.ndarray


@dataclasses.dataclass
class Rendered:
    """A conversation as ids, with its pictures and the places of their pads."""

    ids: list
    learnt: list
    skill: int
    scenes: list
    pads: list


class Bucket:
    """The batch being filled for one row length."""

    def __init__(self, length):
        self.length, self.numbers, self.rows = length, [], [[] for _ in range(BATCH_TOKENS // length)]
        self.learnt = self.pictures = 0

    def add(self, number, made, opened=False):
        """Whether it fitted; with `opened` only rows that have something in them are tried."""
        room = [self.length - sum(len(r.ids) for r in row) for row in self.rows]
        fitting = (r for r in range(len(room)) if room[r] >= len(made.ids) and (self.rows[r] or not opened))
        best = min(fitting, key=lambda r: room[r], default=None)
        count, pictures = sum(made.learnt[1:]), len(made.scenes)
        if best is None or self.learnt + count > LEARNT or self.pictures + pictures > PICTURES:
            return False
        self.numbers.append(number)
        self.rows[best].append(made)
        self.learnt += count
        self.pictures += pictures
        return True

    def batch(self, with_pictures):
        shape = (len(self.rows), self.length)
        ids, segments = np.zeros(shape, np.int32), np.full(shape, -1, np.int32)
        places, targets, skills, scenes, pads = [], [], [], [], []
        for r, row in enumerate(self.rows):
            start = 0
            for document, made in enumerate(row):
                end, offset = start + len(made.ids), r * self.length + start
                ids[r, start:end], segments[r, start:end] = made.ids, document
                learnt = [i for i in range(1, len(made.ids)) if made.learnt[i]]
                places += [offset + i - 1 for i in learnt]
                targets += [made.ids[i] for i in learnt]
                skills += [made.skill] * len(learnt)
                scenes += made.scenes
                pads += [offset + i for i in made.pads]
                start = end
        pad = LEARNT - len(places)
        weights = np.pad(np.ones(len(places), np.float32), (0, pad))
        padded = (np.pad(np.asarray(x, np.int32), (0, pad)) for x in (places, targets))
        skills = np.pad(np.asarray(skills, np.int32), (0, pad))
        return Batch(ids, segments, *padded, weights, skills, *_pictures(scenes, pads, with_pictures))


def _pictures(scenes, pads, wanted):
    """(pixels, pads) of a Batch."""
    count, side = PICTURES if wanted else 0, data_pictures.SIZE // PATCH
    pixels = np.zeros((count, side * side, 3 * PATCH * PATCH), np.float32)
    for i, scene in enumerate(scenes):
        pixels[i] = vision.patches(data_pictures.draw(scene), PATCH)
    behind = [BATCH_TOKENS] * (count * PICTURE_TOKENS - len(pads))
    return pixels, np.asarray(pads + behind, np.int32)


class Stream:
    """Endless batches; `saved` is what save() returned."""

    def __init__(self, renderer, saved=None):
        self.renderer = renderer
        self.buckets = {length: Bucket(length) for length in ROWS}
        self.next, self.pictures_from = 0, None
        if saved is not None:
            self.next, self.pictures_from = saved["next"], saved.get("pictures_from")
            for length, numbers in saved["pending"].items():
                for number in numbers:
                    if not self.buckets[int(length)].add(number, self._rendered(number)):
                        raise ValueError(
                            f"saved stream: conversation {number} no longer fits its batch; was the generator changed?"
                        )

    def save(self):
        pending = {str(length): b.numbers for length, b in self.buckets.items()}
        return {"next": self.next, "pending": pending, "pictures_from": self.pictures_from}

    def add_pictures(self):
        """From the next conversation on, if not before."""
        if self.pictures_from is None:
            self.pictures_from = self.next

    def _rendered(self, number):
        sample = conversation(number, self.pictures_from)
        ids, learnt = flat(self.renderer.whole(sample))
        pad = self.renderer.tokenizer.special(special.MEDIA_PAD)
        return Rendered(
            ids,
            learnt,
            SKILLS.index(sample.skill),
            sample.expect.get("pictures", []),
            [i for i, t in enumerate(ids) if t == pad],
        )

    def __next__(self):
        while True:
            number, self.next = self.next, self.next + 1
            made = self._rendered(number)
            length = next((n for n in ROWS if n >= len(made.ids)), None)
            if length is None or sum(made.learnt) > LEARNT:
                continue  # longer than any row
            if any(self.buckets[n].add(number, made, opened=True) for n in ROWS if n > length):
                continue  # fills what a long one left
            if self.buckets[length].add(number, made):
                continue
            full, self.buckets[length] = self.buckets[length], Bucket(length)
            self.buckets[length].add(number, made)
            return full.batch(self.pictures_from is not None)

    def __iter__(self):
        return self


def register():
    """Lets JAX pass a Batch into compiled functions."""
    import jax

    names = [f.name for f in dataclasses.fields(Batch)]
    jax.tree_util.register_dataclass(Batch, data_fields=names, meta_fields=[])
