#!/usr/bin/env python3
"""Makes a small vocabulary for tests and the ids it must give.

Writes testdata/tokenizer/{tiktoken.model,tokenizer_config.json} and golden/tokenizer/small.jsonl.
The ids come from the definition written down once more, as plainly as possible and without a line
of the C++ code: the pattern as a regular expression (PyPI package `regex`), merging by trying every
pair, slicing character by character.

    python3 tools/make_test_vocab.py
"""
import base64
import collections
import json
import pathlib
import random

import regex

ROOT = pathlib.Path(__file__).resolve().parent.parent
RANKS = 800
SPECIALS = 256
UPPER = r"[[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]--[\p{Script=Han}]]"
LOWER = r"[[\p{Ll}\p{Lm}\p{Lo}\p{M}]--[\p{Script=Han}]]"
SPACE = r"\p{White_Space}"
SUFFIX = "(?:'[sS\u017f]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])?"
PATTERN = regex.compile("(?V1)" + "|".join([
    r"[\p{Script=Han}]+",
    rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}*{LOWER}+{SUFFIX}",
    rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}+{LOWER}*{SUFFIX}",
    r"\p{N}{1,3}",
    rf" ?[^{SPACE}\p{{L}}\p{{N}}]+[\r\n]*",
    rf"{SPACE}*[\r\n]+",
    rf"{SPACE}+(?![^{SPACE}])",
    rf"{SPACE}+",
]))

# The channel words of a K3 prompt, each a token, as in K3.
CHANNEL_WORDS = ("think", "response", "tools", "message", "call", "argument", "json", "role", "name")
TEXT = """
The quick brown fox jumps over the lazy dog. It's a small text; they'll read it, and we're done.
A tokenizer turns text into ids and ids into text. The ids are ranks, and a rank is a merge.
message role="user" tool call index="1" key="city" type="string" tool-declare thinking_effort
You are Kimi, an AI assistant. The user asks, the assistant answers, and the system decides.
    def tokenize(text):
        for piece in pattern.findall(text):
            yield from merge(piece)
    return {"role": "assistant", "content": "Hello, world!", "numbers": [1, 22, 333, 4444, 0.5]}
std::vector<std::string> words; // int main() { return 0; }
0123456789 100 200 300 2026 1024 128 256 512 999
你好，世界！今天是星期一。人工智能正在改变世界，中文分词很有意思。你好，世界！今天天气很好。
東京タワーは高いです。これはテストです。カタカナとひらがな、カタカナとひらがな。
Привет, мир! Это простой тест. Привет, мир! это тест
한국어 문장입니다. 한국어 문장입니다. مرحبا بالعالم שלום עולם สวัสดีชาวโลก नमस्ते दुनिया
naïve café déjà vu e\u0301 o\u0308 \U0001F680\U0001F525 \U0001F469\u200d\U0001F4BB \U0001F680
--------------------------------------------------------------------------------
aaaaaaaaaaaaaaaaaaaaaaaa\t\t\t\t\n\n\n\n                                                        x
""" + "".join(f"{word}\n" * 6 for word in CHANNEL_WORDS)


# Tokens that merging cannot reach, since nothing merges inside them: only the look-up of a whole
# piece finds them.
UNREACHABLE = (b"zqxj", b" zqxj", b"#$%^")


def learn(text, count):
    """Returns byte strings: all bytes, then the most frequent merges of the text."""
    words = collections.Counter(tuple(bytes([b]) for b in m.encode()) for m in
                                PATTERN.findall(text))
    tokens = [bytes([b]) for b in range(256)]
    while len(tokens) < count:
        pairs = collections.Counter()
        for word, times in words.items():
            for pair in zip(word, word[1:]):
                pairs[pair] += times
        left, right = min(pairs, key=lambda p: (-pairs[p], p))
        joined = left + right
        if joined not in tokens:
            tokens.append(joined)
        merged = collections.Counter()
        for word, times in words.items():
            out, i = [], 0
            while i < len(word):
                if word[i:i + 2] == (left, right):
                    out.append(joined)
                    i += 2
                else:
                    out.append(word[i])
                    i += 1
            merged[tuple(out)] += times
        words = merged
    return tokens


def shuffled(tokens, random_source):
    """Moves every rank by a little. K3's ranks are not monotone either (a merge may have a lower
    rank than its parts), and its bytes are not in order."""
    keyed = [(i + random_source.random() * 60, t) for i, t in enumerate(tokens)]
    return [t for _, t in sorted(keyed)]


def special_names():
    """The names of K3's block at the same places, and two that nest in each other."""
    first = RANKS
    names = {0: "[BOS]", 1: "[EOS]", 2: "<|end_of_msg|>", 3: "<|open|>", 4: "<|close|>",
             5: "<|sep|>", 6: "[start_header_id]", 7: "[end_header_id]", 9: "[EOT]",
             18: "<|media_begin|>", 19: "<|media_content|>", 20: "<|media_end|>",
             21: "<|media_pad|>", 40: "<tag>", 41: "<tag>more", 65: "<osagent_mode>",
             254: "[UNK]", 255: "[PAD]"}
    return {str(first + at): {"content": name, "special": at not in (3, 4, 5)}
            for at, name in names.items()}


class Reference:
    def __init__(self, tokens, names):
        self.ranks = {t: i for i, t in enumerate(tokens)}
        self.specials = {names.get(str(i), {}).get("content", f"<|reserved_token_{i}|>"): i
                         for i in range(RANKS, RANKS + SPECIALS)}

    def piece(self, text):
        data = text.encode()
        if data in self.ranks:
            return [self.ranks[data]]
        parts = [bytes([b]) for b in data]
        while True:
            best = min(((self.ranks[a + b], i) for i, (a, b) in enumerate(zip(parts, parts[1:]))
                        if a + b in self.ranks), default=None)
            if best is None:
                return [self.ranks[p] for p in parts]
            i = best[1]
            parts[i:i + 2] = [parts[i] + parts[i + 1]]

    def ordinary(self, text):
        pieces = PATTERN.findall(text)
        assert "".join(pieces) == text, text
        return [i for p in pieces for i in self.piece(p)]

    def with_specials(self, text):
        ids, at, start = [], 0, 0
        while at < len(text):
            found = max((s for s in self.specials if text.startswith(s, at)), key=len, default="")
            if found:
                ids += self.ordinary(text[start:at]) + [self.specials[found]]
                at += len(found)
                start = at
            else:
                at += 1
        return ids + self.ordinary(text[start:])

    def capped(self, text, max_chars, max_run):
        ids = []
        for outer in range(0, len(text), max_chars):
            part = text[outer:outer + max_chars]
            piece, run = "", ""
            for c in part:
                run = run + c if run and run[-1].isspace() == c.isspace() else c
                if len(run) > max_run:
                    ids += self.with_specials(piece)
                    piece, run = "", c
                piece += c
            ids += self.with_specials(piece)
        return ids


HAND = ["", " ", "\n", "a", "Hello, world!", "hello   ", "a    b", "a\r\n\r\n b", "a \n b", "\r\n\r\n",
        "it's IT'S it\u2019s don't WE'VE they'll x'd y'LL 'tis o'clock it'\u017f IT'\u017fX",
        "1234567890", "1,000,000.5", "\u3007\u4e00\u4e8c 1\u3007\u4e002", "\u2e80\u3005\u4e2d\u2e80!",
        "\u4f60\u597d\uff0c\u4e16\u754c\uff01", "hello\u4f60\u597dworld", "\u30ab\u30fc\u30bf\u30fc",
        "HTTPServerError camelCase snake_case", "\u01c5\u01c6 \u01c4a", "\u0301a \u0301A a\u0301B",
        " \u0301\u0301A", "A\u0301\u0301Bc", "\u02b0A\u02b0", "\u00aaA\u00aaBB", "\u200bx\u200b",
        "\u00a0x\u3000y\u2028z\u0085", "x\x1cy\x1c\x1dz", "\u2167 \u00bd\u00b2\u2460", "\x00\x01\x7f",
        "\ufffd", "\U00020bb7\U0001F469\u200d\U0001F4BB", "<|open|>think<|sep|>hi<|close|>think<|sep|>",
        "<|open|", "<<|open|>>", "[EOS][BOS]", "<tag>", "<tag>mor", "<tag>more", "<tag><tag>more>",
        f"<|reserved_token_{RANKS + 8}|>", f"<|reserved_token_{RANKS + 9}|>", "<|reserved_token_8|>",
        "<|im_end|>", "a<|end_of_msg|>b c", " " * 70, "a" * 70, "\n" * 9, "-" * 81, "ab" * 60,
        "\u4e16\u754c" * 20, "!?" * 40 + "\n\n\n", "zqxj zqxj zqxjy #$%^ #$%^&", "x" * 30 + " " * 30 + "y\t\t\t\tz"]
ALPHABET = ["\r", "\n", " ", "\t", "\u00a0", "A", "Z", "a", "s", "t", "r", "e", "l", "\u017f", "'",
            "\u02b0", "\u05d0", "\u30ab", "\u0301", "\u0e31", "1", "\u2167", "\u4f60", "\u4e16",
            "\u3007", "\u2e80", "!", "<", "|", ">", "<|open|>", "<tag>", "\x1c", "\U0001F680", "\u01c5"]


def main():
    source = random.Random(20260727)
    tokens = shuffled(learn(TEXT, RANKS - len(UNREACHABLE)) + list(UNREACHABLE), source)
    names = special_names()
    folder = ROOT / "testdata/tokenizer"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tiktoken.model").write_text("".join(
        f"{base64.b64encode(t).decode()} {i}\n" for i, t in enumerate(tokens)))
    config = {"added_tokens_decoder": names, "bos_token": "[BOS]", "eos_token": "[EOS]",
              "model_max_length": 1000000000000000019884624838656,
              "tokenizer_class": "TikTokenTokenizer"}
    (folder / "tokenizer_config.json").write_text(json.dumps(config, indent=1) + "\n")
    reference = Reference(tokens, names)
    texts = list(HAND)
    for _ in range(250):
        texts.append("".join(source.choice(ALPHABET) for _ in range(source.randint(1, 14))))
    (ROOT / "golden/tokenizer").mkdir(parents=True, exist_ok=True)
    with open(ROOT / "golden/tokenizer/small.jsonl", "w") as out:
        for text in texts:
            out.write(json.dumps({
                "text": text, "ordinary": reference.ordinary(text),
                "special": reference.with_specials(text),
                "capped": reference.capped(text, 11, 4)}, separators=(",", ":")) + "\n")
    print(f"{len(tokens)} ranks, longest {max(map(len, tokens))} bytes, {len(texts)} goldens")


if __name__ == "__main__":
    main()
