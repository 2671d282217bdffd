# SPDX-License-Identifier: Apache-2.0
"""The trained model's vocabulary: byte-level BPE over the generator's conversations, with K3's split of text.

python -m tools.train.tokenizer --out DIR        writes tiktoken.model and tokenizer_config.json
"""

import argparse
import collections
import functools
import heapq
import json
import pathlib
import sys

import regex

from ..nano_prompts import ATTRIBUTES, CHANNEL_WORDS, CORPUS, EFFORT, FORMATS, MORE_TOOLS, TOOL_CHOICES, TOOLS
from ..nano_tokenizer import Tokenizer as _Base
from ..nano_tokenizer import byte_order
from . import data_mix
from .data_dice import TRAIN

RANKS = 2304
SAMPLES = 12000
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]"
_SUFFIX = r"(?:'s|'t|'re|'ve|'m|'ll|'d)?"
_SPLIT = regex.compile(
    rf"[\p{{Han}}]+|[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+(?i:{_SUFFIX})|[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*(?i:{_SUFFIX})"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    regex.V1,
)


class Tokenizer(_Base):
    """Encodes ordinary text as the product does."""

    def __init__(self, vocabulary):
        super().__init__(vocabulary)
        self._cached = functools.lru_cache(1 << 17)(lambda piece: tuple(self._encode_piece(piece.encode())))

    def encode(self, text):
        return [i for piece in _SPLIT.findall(text) for i in self._cached(piece)]

    @classmethod
    def load(cls, directory):
        import base64

        lines = (pathlib.Path(directory) / "tiktoken.model").read_text().splitlines()
        return cls([base64.b64decode(line.split()[0]) for line in lines])

    def save(self, directory):
        directory = pathlib.Path(directory)
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "tiktoken.model").write_text(self.model_file())
        text = json.dumps(self.config(), indent=1, ensure_ascii=False)
        (directory / "tokenizer_config.json").write_text(text + "\n", encoding="utf-8")


class _Merging:
    """Byte pair encoding of counted pieces that updates only what a merge touches."""

    def __init__(self, counts):
        self.pieces = [([bytes([b]) for b in piece.encode()], n) for piece, n in sorted(counts.items())]
        self.pairs, self.where = collections.Counter(), collections.defaultdict(set)
        for index in range(len(self.pieces)):
            self._count(index, 1)
        self.heap = [(-n, pair) for pair, n in self.pairs.items()]
        heapq.heapify(self.heap)

    def _count(self, index, sign):
        symbols, n = self.pieces[index]
        for pair in zip(symbols, symbols[1:]):
            self.pairs[pair] += sign * n
            self.where[pair].add(index)

    def best(self):
        """The most frequent pair, the smallest of those that tie; None when nothing is left."""
        while self.heap:
            count, pair = heapq.heappop(self.heap)
            if self.pairs[pair] == -count and count < 0:
                return pair
        return None

    def merge(self, pair):
        touched = set()
        for index in sorted(self.where.pop(pair)):
            symbols, n = self.pieces[index]
            touched.update(zip(symbols, symbols[1:]))
            self._count(index, -1)
            made, i = [], 0
            while i < len(symbols):
                joined = tuple(symbols[i : i + 2]) == pair
                made.append(symbols[i] + symbols[i + 1] if joined else symbols[i])
                i += 2 if joined else 1
            self.pieces[index] = (made, n)
            self._count(index, 1)
            touched.update(zip(made, made[1:]))
        for one in sorted(touched):
            if self.pairs[one] > 0:
                heapq.heappush(self.heap, (-self.pairs[one], one))


def train(texts, whole_words, ranks):
    """The vocabulary in rank order; every one of whole_words becomes a token."""
    counts = collections.Counter()
    for text in texts:
        counts.update(_SPLIT.findall(text))
    for word in whole_words:
        counts[word] += 100000
    merging, vocabulary = _Merging(counts), [bytes([b]) for b in byte_order()]
    known = set(vocabulary)
    while len(vocabulary) < ranks:
        pair = merging.best()
        if pair is None:
            break
        if pair[0] + pair[1] not in known:
            known.add(pair[0] + pair[1])
            vocabulary.append(pair[0] + pair[1])
        merging.merge(pair)
    return vocabulary


class _Collector:
    """Stands for a tokenizer while texts are collected."""

    def __init__(self):
        self.texts = []

    def encode(self, text):
        self.texts.append(text)
        return []

    def special(self, offset):
        return offset


def texts_of(samples):
    from .data_render import Renderer

    collector = _Collector()
    renderer = Renderer(collector)
    for number in range(samples):
        renderer.whole(data_mix.sample(TRAIN, number, data_mix.SEED + " tokenizer"))
    return collector.texts


def make(ranks=RANKS, samples=SAMPLES):
    controls = [EFFORT, TOOLS, MORE_TOOLS, *TOOL_CHOICES, *FORMATS]
    made = Tokenizer(train([*texts_of(samples), CORPUS, *controls], [*CHANNEL_WORDS, *ATTRIBUTES], ranks))
    for word in CHANNEL_WORDS:
        if len(made.encode(word)) != 1:
            raise AssertionError(f"{word}: expected one token, found {made.encode(word)}")
    return made


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    options = parser.parse_args(arguments)
    make().save(options.out)


if __name__ == "__main__":
    main(sys.argv[1:])
