#!/usr/bin/env python3
"""Writes src/tokenizer/unicode_tables.cc from a class file of 0x110000 bytes, one per code point.

Bits of a class: 1 letter, 2 number, 4 White_Space, 8 upper part, 16 lower part, 32 Script=Han
(spec k3-frontend.md section 1.3). Unicode 16.0.

    tools/make_unicode_tables.py ../shared/data/tokenizer/k3_class_unicode16.bin
"""
import hashlib
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LEAF = 128  # code points per leaf
MID = 64  # leaves per middle block


def dedup(items, size):
    """Returns (unique blocks in order of appearance, index of each block)."""
    seen, index = {}, []
    for at in range(0, len(items), size):
        index.append(seen.setdefault(tuple(items[at:at + size]), len(seen)))
    return list(seen), index


def fnv1a64(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return value


def rows(values, text, width):
    line, out = "   ", []
    for value in values:
        item = f" {text(value)},"
        if len(line) + len(item) > width:
            out.append(line)
            line = "   "
        line += item
    return "\n".join(out + [line])


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    data = pathlib.Path(sys.argv[1]).read_bytes()
    if len(data) != 0x110000:
        sys.exit(f"{sys.argv[1]}: expected {0x110000} bytes, found {len(data)}")
    classes = sorted(set(data))
    if len(classes) > 16:
        sys.exit(f"{len(classes)} distinct classes do not fit into 4 bits")
    nibbles = [classes.index(b) for b in data]
    leaves, leaf_index = dedup(nibbles, LEAF)
    mids, top = dedup(leaf_index, MID)
    words = []
    for leaf in leaves:
        for at in range(0, LEAF, 16):
            words.append(sum(n << (4 * i) for i, n in enumerate(leaf[at:at + 16])))
    middle = [i for block in mids for i in block]
    (ROOT / "src/tokenizer/unicode_tables.cc").write_text(f"""// SPDX-License-Identifier: Apache-2.0
// Made by tools/make_unicode_tables.py; do not edit.
// Unicode 16.0, source table sha256
// {hashlib.sha256(data).hexdigest()}
#include "tokenizer/unicode_tables.h"

namespace daybreak::tokenizer::tables {{

// clang-format off
const std::uint64_t kClassesFnv1a64 = 0x{fnv1a64(data):016x};

const std::uint8_t kClasses[16] = {{
{rows(classes, str, 100)}
}};

const std::uint8_t kTop[{len(top)}] = {{
{rows(top, str, 100)}
}};

const std::uint8_t kMiddle[{len(middle)}] = {{
{rows(middle, str, 100)}
}};

const std::uint64_t kLeaves[{len(words)}] = {{
{rows(words, hex, 100)}
}};
// clang-format on

}}  // namespace daybreak::tokenizer::tables
""")
    print(f"{len(leaves)} leaves, {len(mids)} middle blocks, "
          f"{len(words) * 8 + len(middle) + len(top)} bytes")


if __name__ == "__main__":
    main()
