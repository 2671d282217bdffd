# SPDX-License-Identifier: Apache-2.0
"""Rewrites a K3 snapshot as GGUF for llama.cpp: dense weights as they are (bf16), MXFP4 experts re-blocked without loss.

    python -m bench.peers.to_gguf SNAPSHOT_DIR OUT.gguf

Only what `tools.make_bench_model` writes is supported: gated MLA with q_lora, full-rank KDA gate, latent MoE, AttnRes.
"""

import argparse
import json
import pathlib
import struct

import numpy as np

from tools.checkpoint_writer import encode
from tools.reference import config as config_module
from tools.reference.safetensors_file import decode

_F32, _BF16, _MXFP4 = 0, 30, 39
_ALIGN = 32


class Snapshot:
    """Random access to the tensors of a single-file snapshot."""

    def __init__(self, directory):
        self.data = np.memmap(directory / "model.safetensors", np.uint8, "r")
        length = struct.unpack("<Q", self.data[:8].tobytes())[0]
        self.header = json.loads(self.data[8 : 8 + length].tobytes())
        self.base = 8 + length

    def raw(self, name):
        entry = self.header[name]
        begin, end = entry["data_offsets"]
        return entry["dtype"], entry["shape"], self.data[self.base + begin : self.base + end].tobytes()

    def values(self, name):
        dtype, shape, raw = self.raw(name)
        return decode(dtype, raw, shape)


def mxfp4_blocks(packed, scale):
    """GGUF's block: the scale byte, then 16 bytes whose low nibbles are elements 0..15 and high ones 16..31."""
    rows = packed.shape[0]
    codes = np.empty((rows, packed.shape[1] * 2), np.uint8)
    codes[:, 0::2], codes[:, 1::2] = packed & 15, packed >> 4
    codes = codes.reshape(rows, -1, 32)
    blocks = np.empty((rows, codes.shape[1], 17), np.uint8)
    blocks[:, :, 0] = scale
    blocks[:, :, 1:] = codes[:, :, :16] | (codes[:, :, 16:] << 4)
    return blocks.tobytes()


class Writer:
    """Collects keys and tensors, then writes one GGUF version 3 file."""

    def __init__(self):
        self.keys = []
        self.tensors = []  # (name, type, dims innermost first, bytes producer, byte count)

    @staticmethod
    def _string(text):
        return struct.pack("<Q", len(text.encode())) + text.encode()

    def key(self, name, value):
        if isinstance(value, str):
            body = struct.pack("<I", 8) + self._string(value)
        elif isinstance(value, bool):
            body = struct.pack("<IB", 7, value)
        elif isinstance(value, int):
            body = struct.pack("<II", 4, value)
        elif isinstance(value, float):
            body = struct.pack("<If", 6, value)
        else:
            body = struct.pack("<IIQ", 9, 5, len(value)) + struct.pack(f"<{len(value)}i", *value)
        self.keys.append(self._string(name) + body)

    def tensor(self, name, kind, dims, produce):
        per_row = {_F32: 4 * dims[0], _BF16: 2 * dims[0], _MXFP4: dims[0] // 32 * 17}[kind]
        self.tensors.append((name, kind, dims, produce, per_row * int(np.prod(dims[1:], dtype=np.int64))))

    def write(self, path):
        with open(path, "wb") as out:
            out.write(b"GGUF" + struct.pack("<IQQ", 3, len(self.tensors), len(self.keys)) + b"".join(self.keys))
            offset = 0
            for name, kind, dims, _, count in self.tensors:
                out.write(self._string(name) + struct.pack(f"<I{len(dims)}QIQ", len(dims), *dims, kind, offset))
                offset += -(-count // _ALIGN) * _ALIGN
            out.write(b"\0" * (-out.tell() % _ALIGN))
            for name, _, _, produce, count in self.tensors:
                raw = produce()
                if len(raw) != count:
                    raise ValueError(f"{name}: expected {count} bytes, found {len(raw)}")
                out.write(raw + b"\0" * (-count % _ALIGN))


class Converter:
    """Maps the tensors of one snapshot to llama.cpp's `kimi-k3` names."""

    def __init__(self, directory):
        self.config = config_module.from_json(json.loads((directory / "config.json").read_text()))
        self.text = json.loads((directory / "config.json").read_text())["text_config"]
        self.snapshot = Snapshot(directory)
        self.out = Writer()

    def _matrix(self, name, source):
        _, shape, _ = self.snapshot.raw(source)
        self.out.tensor(name, _BF16, shape[::-1], lambda: self.snapshot.raw(source)[2])

    def _floats(self, name, dims, values):
        self.out.tensor(name, _F32, dims, lambda: encode("F32", values()))

    def _vector(self, name, source, size):
        self._floats(name, [size], lambda: self.snapshot.values(source))

    def _site(self, name, source):
        self._floats(name, [self.config.hidden], lambda: self.snapshot.values(source + "_norm.weight")
                     * self.snapshot.values(source + "_proj.weight")[0])  # fmt: skip

    def convert(self, path):
        c, prefix = self.config, self.config.prefix
        self._keys()
        self._matrix("token_embd.weight", prefix + "model.embed_tokens.weight")
        self._vector("output_norm.weight", prefix + "model.norm.weight", c.hidden)
        self._matrix("output.weight", prefix + "lm_head.weight")
        self._site("output_res_score.weight", prefix + "model.output_attn_res")
        for index in range(c.layers):
            self._layer(index, f"blk.{index}.", f"{prefix}model.layers.{index}.")
        self.out.write(path)

    def _layer(self, index, to, source):
        c = self.config
        self._vector(to + "attn_norm.weight", source + "input_layernorm.weight", c.hidden)
        self._vector(to + "ffn_norm.weight", source + "post_attention_layernorm.weight", c.hidden)
        self._site(to + "attn_res_score.weight", source + "self_attention_res")
        self._site(to + "ffn_res_score.weight", source + "mlp_res")
        (self._kda if c.is_kda(index) else self._mla)(to, source + "self_attn.")
        self._matrix(to + "attn_output.weight", source + "self_attn.o_proj.weight")
        if c.is_moe(index):
            self._moe(to, source + "block_sparse_moe.")
        else:
            for part in ("gate", "up", "down"):
                self._matrix(f"{to}ffn_{part}.weight", f"{source}mlp.{part}_proj.weight")

    def _kda(self, to, source):
        c = self.config
        width = c.kda_heads * c.kda_dim
        for part in "qkv":
            name = f"{source}{part}_conv1d.weight"
            self._matrix(f"{to}attn_{part}.weight", f"{source}{part}_proj.weight")
            self._floats(f"{to}ssm_conv1d_{part}.weight", [4, 1, width, 1], lambda n=name: self.snapshot.values(n))
        for name, part in (("ssm_f_a", "f_a"), ("ssm_f_b", "f_b"), ("ssm_beta", "b"), ("ssm_g", "g")):
            self._matrix(f"{to}{name}.weight", f"{source}{part}_proj.weight")
        self._floats(to + "ssm_a", [c.kda_heads], lambda: -np.exp(self.snapshot.values(source + "A_log")[: c.kda_heads]))
        self._vector(to + "ssm_dt.bias", source + "dt_bias", width)
        self._vector(to + "ssm_norm.weight", source + "o_norm.weight", c.kda_dim)

    def _mla(self, to, source):
        c = self.config
        for name, part in (("attn_q_a", "q_a_proj"), ("attn_q_b", "q_b_proj"), ("attn_kv_a_mqa", "kv_a_proj_with_mqa"),
                           ("attn_gate", "g_proj")):  # fmt: skip
            self._matrix(f"{to}{name}.weight", f"{source}{part}.weight")
        self._vector(to + "attn_q_a_norm.weight", source + "q_a_layernorm.weight", c.q_lora_rank)
        self._vector(to + "attn_kv_a_norm.weight", source + "kv_a_layernorm.weight", c.kv_lora_rank)

        def parts():
            values = self.snapshot.values(source + "kv_b_proj.weight")
            return values.reshape(c.heads, c.nope_dim + c.v_dim, c.kv_lora_rank)

        self.out.tensor(to + "attn_k_b.weight", _BF16, [c.nope_dim, c.kv_lora_rank, c.heads],
                        lambda: encode("BF16", parts()[:, : c.nope_dim].transpose(0, 2, 1)))  # fmt: skip
        self.out.tensor(to + "attn_v_b.weight", _BF16, [c.kv_lora_rank, c.v_dim, c.heads],
                        lambda: encode("BF16", parts()[:, c.nope_dim :]))  # fmt: skip

    def _moe(self, to, source):
        c, t = self.config, self.text
        latent, inner, experts = t["routed_expert_hidden_size"], t["moe_intermediate_size"], t["num_experts"]
        self._floats(to + "ffn_gate_inp.weight", [c.hidden, experts], lambda: self.snapshot.values(source + "gate.weight"))
        self._vector(to + "exp_probs_b.bias", source + "gate.e_score_correction_bias", experts)
        self._matrix(to + "ffn_routed_down.weight", source + "routed_expert_down_proj.weight")
        self._matrix(to + "ffn_routed_up.weight", source + "routed_expert_up_proj.weight")
        self._vector(to + "ffn_routed_norm.weight", source + "routed_expert_norm.weight", latent)
        for part in ("gate", "up", "down"):
            self._matrix(f"{to}ffn_{part}_shexp.weight", f"{source}shared_experts.{part}_proj.weight")
        for part, weight, dims in (("gate", "w1", [latent, inner]), ("down", "w2", [inner, latent]),
                                   ("up", "w3", [latent, inner])):  # fmt: skip
            self.out.tensor(f"{to}ffn_{part}_exps.weight", _MXFP4, [*dims, experts],
                            lambda w=weight: b"".join(self._expert(f"{source}experts.{e}.{w}.weight")
                                                      for e in range(experts)))  # fmt: skip

    def _expert(self, name):
        packed, scale = (self.snapshot.raw(name + suffix) for suffix in ("_packed", "_scale"))
        return mxfp4_blocks(*(np.frombuffer(raw, np.uint8).reshape(shape) for _, shape, raw in (packed, scale)))

    def _keys(self):
        c, t, arch, key = self.config, self.text, "kimi-k3.", self.out.key
        key("general.architecture", "kimi-k3")
        key("general.name", "synthetic")
        key("general.alignment", _ALIGN)
        key(arch + "block_count", c.layers)
        key(arch + "context_length", 8192)
        key(arch + "embedding_length", c.hidden)
        key(arch + "feed_forward_length", c.intermediate)
        key(arch + "vocab_size", c.vocab)
        key(arch + "attention.head_count", c.heads)
        key(arch + "attention.head_count_kv", [0 if c.is_kda(i) else 1 for i in range(c.layers)])
        key(arch + "attention.layer_norm_rms_epsilon", 1e-5)
        key(arch + "attention.q_lora_rank", c.q_lora_rank)
        key(arch + "attention.kv_lora_rank", c.kv_lora_rank)
        key(arch + "attention.key_length", c.kv_lora_rank + c.rope_dim)
        key(arch + "attention.value_length", c.kv_lora_rank)
        key(arch + "attention.key_length_mla", c.nope_dim + c.rope_dim)
        key(arch + "attention.value_length_mla", c.v_dim)
        key(arch + "rope.dimension_count", c.rope_dim)
        key(arch + "ssm.conv_kernel", 4)
        key(arch + "kda.head_dim", c.kda_dim)
        key(arch + "kda.gate_lower_bound", -5.0)
        key(arch + "expert_count", t["num_experts"])
        key(arch + "expert_used_count", t["num_experts_per_token"])
        key(arch + "expert_feed_forward_length", t["moe_intermediate_size"])
        key(arch + "expert_shared_count", t["num_shared_experts"])
        key(arch + "leading_dense_block_count", 1)
        key(arch + "expert_weights_scale", t["routed_scaling_factor"])
        key(arch + "expert_weights_norm", True)
        key(arch + "expert_gating_func", 2)
        key(arch + "expert_latent_length", t["routed_expert_hidden_size"])
        key(arch + "activation.situ_beta", 4.0)
        key(arch + "activation.situ_linear_beta", 25.0)
        key(arch + "attn_res.block_size", t["attn_res_block_size"])
        key("tokenizer.ggml.model", "none")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("snapshot", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    options = parser.parse_args()
    Converter(options.snapshot).convert(options.out)


if __name__ == "__main__":
    main()
