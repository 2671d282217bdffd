# SPDX-License-Identifier: Apache-2.0
"""The bundled model's vocabulary: byte-level BPE trained here, special names laid out as K3 lays out its own."""

import base64
import collections
import unicodedata

SPECIAL_SLOTS = 256
# Offset in the block that follows the ranks -> (name, whether the released file marks it special).
SPECIALS = {
    0: ("[BOS]", True), 1: ("[EOS]", True), 2: ("<|end_of_msg|>", True), 3: ("<|open|>", False),
    4: ("<|close|>", False), 5: ("<|sep|>", False), 6: ("[start_header_id]", True), 7: ("[end_header_id]", True),
    9: ("[EOT]", True), 18: ("<|media_begin|>", True), 19: ("<|media_content|>", True), 20: ("<|media_end|>", True),
    21: ("<|media_pad|>", True), 65: ("<osagent_mode>", True), 254: ("[UNK]", True), 255: ("[PAD]", True),
}  # fmt: skip
END_OF_MSG, OPEN, CLOSE, SEP, MEDIA_PAD, PAD = 2, 3, 4, 5, 21, 255
_CONTRACTIONS = ("'s", "'t", "'re", "'ve", "'m", "'ll", "'d")


def byte_order():
    """The 256 single bytes in rank order: printable ones first, as in K3's vocabulary."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    return printable + [b for b in range(256) if b not in printable]


def _is_han(char):
    return unicodedata.name(char, "").startswith("CJK ") or char in "\u3005\u3007"


def _kind(char):
    category = unicodedata.category(char)
    if _is_han(char):
        return "han"
    if category[0] in "LM":
        return "letter"
    if category[0] == "N":
        return "number"
    return "space" if char.isspace() else "other"


def _take(text, start, accept, limit=None):
    end = start
    while end < len(text) and accept(text[end]) and (limit is None or end - start < limit):
        end += 1
    return end


def _word_end(text, start):
    """End of one cased word and its contraction: upper* lower+ or upper+ lower*."""
    end = _take(text, start, lambda c: _kind(c) == "letter" and unicodedata.category(c) not in ("Ll",))
    end = _take(text, end, lambda c: _kind(c) == "letter" and unicodedata.category(c) not in ("Lu", "Lt"))
    for suffix in _CONTRACTIONS:
        if text[end : end + len(suffix)].lower() == suffix:
            return end + len(suffix)
    return end


def _space_end(text, start):
    """End of a whitespace piece: up to the last newline of the run, or all but the space a word will take."""
    end = _take(text, start, str.isspace)
    newline = max(text.rfind("\n", start, end), text.rfind("\r", start, end))
    if newline >= 0:
        return newline + 1
    return end if end == len(text) or end - start == 1 else end - 1


def split(text):
    """Pieces that merges may not cross. Enough of K3's pattern for the texts used here."""
    start = 0
    while start < len(text):
        kind = _kind(text[start])
        follows = _kind(text[start + 1]) if start + 1 < len(text) else ""
        if kind == "han":
            end = _take(text, start, _is_han)
        elif kind == "letter":
            end = _word_end(text, start)
        elif kind != "number" and text[start] not in "\r\n" and follows == "letter":
            end = _word_end(text, start + 1)
        elif kind == "number":
            end = _take(text, start, lambda c: _kind(c) == "number", limit=3)
        elif kind == "other" or (text[start] == " " and follows == "other"):
            end = _take(text, start + 1, lambda c: _kind(c) == "other")
            end = _take(text, end, lambda c: c in "\r\n")
        else:
            end = _space_end(text, start)
        yield text[start:end]
        start = end


def train(texts, whole_words, ranks):
    """The vocabulary: list of byte strings in rank order. Every word of whole_words becomes one token."""
    counts = collections.Counter()
    for text in texts:
        counts.update(split(text))
    for word in whole_words:
        counts[word] += 1000
    pieces = [([bytes([b]) for b in piece.encode()], n) for piece, n in sorted(counts.items())]
    vocabulary = [bytes([b]) for b in byte_order()]
    while len(vocabulary) < ranks:
        pairs = collections.Counter()
        for symbols, n in pieces:
            for pair in zip(symbols, symbols[1:]):
                pairs[pair] += n
        if not pairs:
            break
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        joined = best[0] + best[1]
        if joined not in vocabulary:
            vocabulary.append(joined)
        pieces = [(_merge(symbols, best, joined), n) for symbols, n in pieces]
    return vocabulary


def _merge(symbols, pair, joined):
    if joined not in b"".join(symbols):
        return symbols
    merged, i = [], 0
    while i < len(symbols):
        if tuple(symbols[i : i + 2]) == pair:
            merged.append(joined)
            i += 2
        else:
            merged.append(symbols[i])
            i += 1
    return merged


class Tokenizer:
    """Encodes ordinary text; specials are asked for by their offset."""

    def __init__(self, vocabulary):
        self.vocabulary = vocabulary
        self._rank = {token: rank for rank, token in enumerate(vocabulary)}

    def special(self, offset):
        return len(self.vocabulary) + offset

    @property
    def vocab_size(self):
        return len(self.vocabulary) + SPECIAL_SLOTS

    def encode(self, text):
        return [i for piece in split(text) for i in self._encode_piece(piece.encode())]

    def _encode_piece(self, piece):
        if piece in self._rank:
            return [self._rank[piece]]
        symbols = [bytes([b]) for b in piece]
        while True:
            ranked = [(self._rank.get(a + b, len(self._rank)), i) for i, (a, b) in enumerate(zip(symbols, symbols[1:]))]
            rank, i = min(ranked, default=(len(self._rank), 0))
            if rank == len(self._rank):
                return [self._rank[s] for s in symbols]
            symbols[i : i + 2] = [symbols[i] + symbols[i + 1]]

    def spelling(self, token):
        offset = token - len(self.vocabulary)
        if offset < 0:
            return self.vocabulary[token].decode("utf-8", "replace")
        return SPECIALS[offset][0] if offset in SPECIALS else f"<|reserved_token_{token}|>"

    def model_file(self):
        """tiktoken.model: one `base64 rank` line per token."""
        return "".join(f"{base64.b64encode(t).decode()} {rank}\n" for rank, t in enumerate(self.vocabulary))

    def config(self):
        """tokenizer_config.json."""
        names = {str(self.special(o)): {"content": n, "special": s} for o, (n, s) in SPECIALS.items()}
        return {
            "added_tokens_decoder": names, "bos_token": "[BOS]", "eos_token": "[EOS]", "pad_token": "[PAD]",
            "unk_token": "[UNK]", "model_max_length": 1048576, "tokenizer_class": "TikTokenTokenizer",
        }  # fmt: skip
