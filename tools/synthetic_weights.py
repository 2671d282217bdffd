# SPDX-License-Identifier: Apache-2.0
"""Random weights of any member of the K3 family: which tensors a config needs, their shapes and their spread."""

import dataclasses

import numpy as np

from . import deterministic_random as random
from .checkpoint_writer import TensorSet
from .reference import config as config_module

# Low-rank activations are kept small so that the eps of their norms (1e-6, where other engines have 1e-5) matters.
LOW_RANK_GAIN = 0.1


@dataclasses.dataclass(frozen=True)
class Storage:
    """How tensors are stored, where the released files leave a choice or members of the family differ."""

    dense: str = "BF16"
    experts: str = "MXFP4"
    conv: str = "F32"
    o_norm: str = "F32"
    router: str = "BF16"
    a_log: str = "padded"  # or "exact", "4d"
    embed_std: float = 1.0


class WeightMaker:
    """Fills a TensorSet for one config; every tensor's values depend on (seed, tensor name) only."""

    def __init__(self, config_json, storage, seed):
        self.config = config_module.from_json(config_json)
        self.storage = storage
        self.seed = seed
        self.tensors = TensorSet()

    def make(self):
        c, s = self.config, self.storage
        self._add("model.embed_tokens.weight", s.dense, (c.vocab, c.hidden), std=s.embed_std)
        for index in range(c.layers):
            self._layer(index, f"model.layers.{index}.")
        self._norm("model.norm.weight", c.hidden)
        if c.attn_res_block is not None:
            self._mixing_site("model.output_attn_res")
        if not c.tied:
            self._matrix("lm_head.weight", c.vocab, c.hidden, s.dense)
        return self.tensors

    def _add(self, name, dtype, shape, std, mean=0.0):
        name = self.config.prefix + name
        self.tensors.add(name, dtype, mean + random.normal(self.seed + name, shape, std))

    def _matrix(self, name, rows, cols, dtype, gain=1.0):
        self._add(name, dtype, (rows, cols), std=gain * cols**-0.5)

    def _norm(self, name, size, dtype=None):
        self._add(name, dtype or self.storage.dense, (size,), std=0.1, mean=1.0)

    def _mixing_site(self, name):
        self._norm(name + "_norm.weight", self.config.hidden)
        self._matrix(name + "_proj.weight", 1, self.config.hidden, self.storage.dense)

    def _layer(self, index, prefix):
        c = self.config
        self._norm(prefix + "input_layernorm.weight", c.hidden)
        self._norm(prefix + "post_attention_layernorm.weight", c.hidden)
        if c.attn_res_block is not None:
            self._mixing_site(prefix + "self_attention_res")
            self._mixing_site(prefix + "mlp_res")
        attention = prefix + "self_attn."
        if c.is_kda(index):
            self._kda(attention)
        else:
            self._mla(attention)
        if c.is_moe(index):
            self._moe(prefix + "block_sparse_moe.")
        else:
            self._mlp(prefix + "mlp.", c.intermediate)

    def _kda(self, prefix):
        c, s = self.config, self.storage
        width = c.kda_heads * c.kda_dim
        for name in "qkv":
            self._matrix(f"{prefix}{name}_proj.weight", width, c.hidden, s.dense)
            self._add(f"{prefix}{name}_conv1d.weight", s.conv, (width, 1, c.conv_width), std=0.5)
        self._matrix(prefix + "f_a_proj.weight", c.kda_dim, c.hidden, s.dense)
        self._matrix(prefix + "f_b_proj.weight", width, c.kda_dim, s.dense)
        self._matrix(prefix + "b_proj.weight", c.kda_heads, c.hidden, s.dense)
        if c.full_rank_gate:
            self._matrix(prefix + "g_proj.weight", width, c.hidden, s.dense)
        else:
            self._matrix(prefix + "g_a_proj.weight", c.kda_dim, c.hidden, s.dense)
            self._matrix(prefix + "g_b_proj.weight", width, c.kda_dim, s.dense)
        self._a_log(prefix + "A_log")
        self._add(prefix + "dt_bias", "F32", (width,), std=1.5, mean=-2.0)
        self._norm(prefix + "o_norm.weight", c.kda_dim, s.o_norm)
        self._matrix(prefix + "o_proj.weight", c.hidden, width, s.dense)

    def _a_log(self, name):
        heads, form, name = self.config.kda_heads, self.storage.a_log, self.config.prefix + name
        values = random.uniform(self.seed + name, (heads,), -0.4, 1.2)
        if form == "padded":  # to head_dim with zeros, as released
            values = np.concatenate([values, np.zeros(self.config.kda_dim - heads)])
        elif form == "4d":
            values = values.reshape(1, 1, heads, 1)
        self.tensors.add(name, "F32", values)

    def _mla(self, prefix):
        c, dense = self.config, self.storage.dense
        query = c.heads * (c.nope_dim + c.rope_dim)
        if c.q_lora_rank is None:
            self._matrix(prefix + "q_proj.weight", query, c.hidden, dense)
        else:
            self._matrix(prefix + "q_a_proj.weight", c.q_lora_rank, c.hidden, dense, LOW_RANK_GAIN)
            self._norm(prefix + "q_a_layernorm.weight", c.q_lora_rank)
            self._matrix(prefix + "q_b_proj.weight", query, c.q_lora_rank, dense)
        name = prefix + "kv_a_proj_with_mqa.weight"
        latent = random.normal(self.seed + name + " latent", (c.kv_lora_rank, c.hidden), LOW_RANK_GAIN * c.hidden**-0.5)
        shared_key = random.normal(self.seed + name + " key", (c.rope_dim, c.hidden), c.hidden**-0.5)
        self.tensors.add(c.prefix + name, dense, np.concatenate([latent, shared_key]))
        self._norm(prefix + "kv_a_layernorm.weight", c.kv_lora_rank)
        self._matrix(prefix + "kv_b_proj.weight", c.heads * (c.nope_dim + c.v_dim), c.kv_lora_rank, dense)
        self._matrix(prefix + "o_proj.weight", c.hidden, c.heads * c.v_dim, dense)
        if c.mla_output_gate:
            self._matrix(prefix + "g_proj.weight", c.heads * c.v_dim, c.hidden, dense)

    def _mlp(self, prefix, width):
        c, dense = self.config, self.storage.dense
        for name, rows, cols in (("gate", width, c.hidden), ("up", width, c.hidden), ("down", c.hidden, width)):
            self._matrix(f"{prefix}{name}_proj.weight", rows, cols, dense)

    def _moe(self, prefix):
        c, s = self.config, self.storage
        self._matrix(prefix + "gate.weight", c.experts, c.hidden, s.router)
        self._add(prefix + "gate.e_score_correction_bias", "F32", (c.experts,), std=0.1)
        outer = c.hidden if c.latent is None else c.latent
        if c.latent is not None:
            self._matrix(prefix + "routed_expert_down_proj.weight", c.latent, c.hidden, s.dense)
            self._matrix(prefix + "routed_expert_up_proj.weight", c.hidden, c.latent, s.dense)
            if c.latent_norm:
                self._norm(prefix + "routed_expert_norm.weight", c.latent)
        if c.shared_experts:
            self._mlp(prefix + "shared_experts.", c.shared_experts * c.expert_width)
        for expert in range(c.experts):
            for name, rows, cols in (
                ("w1", c.expert_width, outer),
                ("w2", outer, c.expert_width),
                ("w3", c.expert_width, outer),
            ):
                self._matrix(f"{prefix}experts.{expert}.{name}.weight", rows, cols, s.experts)
