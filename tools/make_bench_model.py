# SPDX-License-Identifier: Apache-2.0
"""Writes a synthetic K3 of 1.8 GB for benchmarks: 24 layers, hidden 1024, 128 experts of which 16 are used.

    python -m tools.make_bench_model OUT_DIR

One token reads 775.5 MB of weights and takes 571 M multiply-adds. Needs 4 GB of memory and numpy.
"""

import argparse
import pathlib
import zlib

import numpy as np

from .checkpoint_catalogue import Spec
from .checkpoint_writer import encode, write_json
from .synthetic_weights import Storage, WeightMaker

SPEC = Spec(
    about="bench",
    text={
        "hidden_size": 1024, "num_hidden_layers": 24, "vocab_size": 32768, "num_attention_heads": 12,
        "num_key_value_heads": 12, "q_lora_rank": 384, "kv_lora_rank": 256, "qk_nope_head_dim": 128,
        "qk_rope_head_dim": 64, "v_head_dim": 128, "intermediate_size": 4096, "moe_intermediate_size": 448,
        "num_experts": 128, "num_experts_per_token": 16, "routed_expert_hidden_size": 512,
        "attn_res_block_size": 12, "routed_scaling_factor": 2.5,
    },  # fmt: skip
    linear={"num_heads": 12, "head_dim": 128},
    full_attention=tuple(range(4, 25, 4)),
    storage=Storage(router="F32", embed_std=16.0),
)


class FastWeightMaker(WeightMaker):
    """The same tensors, from a fast generator; experts are random codes instead of quantised numbers."""

    def _add(self, name, dtype, shape, std, mean=0.0):
        name = self.config.prefix + name
        generator = np.random.default_rng(zlib.crc32(name.encode()))
        if dtype != "MXFP4":
            values = mean + std * generator.standard_normal(shape, dtype=np.float32)
            self.tensors.entries[name] = (dtype, list(shape), encode(dtype, values))
            return
        rows, cols = shape
        # 2.9 is the root mean square of the E2M1 values.
        exponent = round(127 + np.log2(std / 2.9))
        packed = generator.integers(0, 256, (rows, cols // 2), dtype=np.uint8)
        scale = generator.integers(exponent - 1, exponent + 2, (rows, cols // 32)).astype(np.uint8)
        for suffix, part in (("_packed", packed), ("_scale", scale)):
            self.tensors.entries[name + suffix] = ("U8", list(part.shape), part.tobytes())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    config = SPEC.config()
    write_json(out / "config.json", config)
    FastWeightMaker(config, SPEC.storage, "bench").make().write_snapshot(out, 1, True)


if __name__ == "__main__":
    main()
