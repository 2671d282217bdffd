# SPDX-License-Identifier: Apache-2.0
"""Encodes tensors and writes safetensors snapshots with reproducible bytes."""

import json
import pathlib
import struct

import numpy as np

from .reference.mxfp4 import E2M1, GROUP
from .reference.safetensors_file import E4M3

_ITEM_BYTES = {"F32": 4, "F16": 2, "BF16": 2, "F8_E4M3": 1, "U8": 1}


def _nearest(values, grid):
    """Index of the grid value nearest to each value, ties to the even index. grid ascends and starts at 0."""
    upper = np.clip(np.searchsorted(grid, values), 1, len(grid) - 1)
    below, above = values - grid[upper - 1], grid[upper] - values
    take_lower = (below < above) | ((below == above) & (upper % 2 == 1))
    return np.where(take_lower, upper - 1, upper)


def encode(dtype, values):
    """Little-endian bytes of float values in a storage type, rounded to nearest even."""
    values = np.ascontiguousarray(values)
    if dtype == "U8":
        return values.astype(np.uint8).tobytes()
    single = values.astype("<f4")
    if dtype == "F32":
        return single.tobytes()
    if dtype == "F16":
        return single.astype("<f2").tobytes()
    if dtype == "BF16":
        word = single.view("<u4")
        return ((word + 0x7FFF + ((word >> 16) & 1)) >> 16).astype("<u2").tobytes()
    if dtype == "F8_E4M3":
        code = _nearest(np.abs(values), E4M3[:127])
        return (code | np.where(np.signbit(values), 128, 0)).astype(np.uint8).tobytes()
    raise ValueError(f"dtype: expected one of {sorted(_ITEM_BYTES)}, found {dtype}")


def quantise_mxfp4(values):
    """(packed [rows, cols/2], scale [rows, cols/32]) uint8: scale exponent floor(log2 amax) - 2, saturating at 6."""
    groups = values.reshape(values.shape[0], -1, GROUP)
    _, exponent = np.frexp(np.abs(groups).max(axis=2))
    scale = np.clip(exponent - 3, -127, 127)
    codes = _nearest(np.abs(groups) * np.exp2(-scale.astype(np.float64))[:, :, None], E2M1[:8])
    codes = (codes | np.where(np.signbit(groups), 8, 0)).reshape(values.shape).astype(np.uint8)
    return codes[:, 0::2] | (codes[:, 1::2] << 4), (scale + 127).astype(np.uint8)


class TensorSet:
    """Named tensors in their stored form; add() takes float values, the storage type decides the bytes."""

    def __init__(self):
        self.entries = {}  # name -> (dtype, shape, bytes)

    def add(self, name, dtype, values):
        if name in self.entries:
            raise ValueError(f"{name}: added twice")
        if dtype != "MXFP4":
            self.entries[name] = (dtype, list(values.shape), encode(dtype, values))
            return
        for suffix, part in zip(("_packed", "_scale"), quantise_mxfp4(values)):
            self.entries[name + suffix] = ("U8", list(part.shape), part.tobytes())

    def write(self, path, names, by_size=True):
        """One file. by_size puts wide types first, so every tensor lies on its natural alignment."""
        order = sorted(names, key=lambda n: (-_ITEM_BYTES[self.entries[n][0]] if by_size else 0, n))
        header, offset = {"__metadata__": {"format": "pt"}}, 0
        for name in order:
            dtype, shape, raw = self.entries[name]
            header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [offset, offset + len(raw)]}
            offset += len(raw)
        text = json.dumps(header, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 8)
        with open(path, "wb") as file:
            file.write(struct.pack("<Q", len(text)) + text)
            for name in order:
                file.write(self.entries[name][2])

    def write_snapshot(self, directory, shards=1, by_size=True):
        """model.safetensors, or `shards` files with tensors dealt in name order and their index."""
        directory = pathlib.Path(directory)
        names = sorted(self.entries)
        if shards == 1:
            self.write(directory / "model.safetensors", names, by_size)
            return
        weight_map = {}
        for shard in range(shards):
            file = f"model-{shard + 1:05}-of-{shards:06}.safetensors"
            mine = names[shard::shards]
            self.write(directory / file, mine, by_size)
            weight_map.update(dict.fromkeys(mine, file))
        total = sum(len(raw) for _, _, raw in self.entries.values())
        index = {"metadata": {"total_size": total}, "weight_map": dict(sorted(weight_map.items()))}
        write_json(directory / "model.safetensors.index.json", index)


def write_json(path, value):
    pathlib.Path(path).write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
