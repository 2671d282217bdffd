# SPDX-License-Identifier: Apache-2.0
"""Reads safetensors files and sharded snapshots into float64 (or uint8) arrays."""

import json
import pathlib
import struct

import numpy as np

MAX_HEADER_BYTES = 100_000_000
_ITEM_BYTES = {"F32": 4, "F16": 2, "BF16": 2, "F8_E4M3": 1, "U8": 1}


def _e4m3_table():
    """The 256 values of FP8 E4M3 (finite variant: bias 7, no infinity, 0x7f and 0xff are NaN)."""
    code = np.arange(256)
    exponent, mantissa = (code >> 3) & 15, code & 7
    magnitude = np.where(exponent == 0, mantissa / 8 * 2.0**-6, (1 + mantissa / 8) * 2.0 ** (exponent - 7.0))
    magnitude[(code & 127) == 127] = np.nan
    return np.where(code & 128, -magnitude, magnitude)


E4M3 = _e4m3_table()


def decode(dtype, raw, shape):
    """Values of `raw` bytes as float64 (uint8 stays uint8)."""
    if dtype == "F32":
        values = np.frombuffer(raw, "<f4").astype(np.float64)
    elif dtype == "F16":
        values = np.frombuffer(raw, "<f2").astype(np.float64)
    elif dtype == "BF16":
        values = (np.frombuffer(raw, "<u2").astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    elif dtype == "F8_E4M3":
        values = E4M3[np.frombuffer(raw, np.uint8)]
    elif dtype == "U8":
        values = np.frombuffer(raw, np.uint8)
    else:
        raise ValueError(f"dtype: expected one of {sorted(_ITEM_BYTES)}, found {dtype}")
    return values.reshape(shape)


def read_file(path):
    """{name: array} of one safetensors file."""
    data = pathlib.Path(path).read_bytes()
    if len(data) < 8:
        raise ValueError(f"{path}: expected an 8-byte header length, found {len(data)} bytes")
    (header_bytes,) = struct.unpack_from("<Q", data)
    if header_bytes > min(MAX_HEADER_BYTES, len(data) - 8):
        raise ValueError(f"{path}: header length {header_bytes} exceeds the file")
    header = json.loads(data[8 : 8 + header_bytes])
    body = memoryview(data)[8 + header_bytes :]
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        count = int(np.prod(entry["shape"], dtype=np.int64))
        if not 0 <= begin <= end <= len(body) or end - begin != count * _ITEM_BYTES[entry["dtype"]]:
            raise ValueError(f"{path}: {name}: bytes [{begin}, {end}) do not fit shape {entry['shape']}")
        tensors[name] = decode(entry["dtype"], body[begin:end], entry["shape"])
    return tensors


def read_snapshot(directory):
    """{name: array} of a snapshot directory, single-file or with an index of shards."""
    directory = pathlib.Path(directory)
    index = directory / "model.safetensors.index.json"
    if not index.exists():
        return read_file(directory / "model.safetensors")
    weight_map = json.loads(index.read_text())["weight_map"]
    shards = {shard: read_file(directory / shard) for shard in sorted(set(weight_map.values()))}
    return {name: shards[shard][name] for name, shard in weight_map.items()}
