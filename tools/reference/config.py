# SPDX-License-Identifier: Apache-2.0
"""The switches of the K3 family that change the computation, read from config.json."""

import dataclasses
import json
import pathlib
from typing import Optional

LOW_RANK_NORM_EPS = 1e-6  # the released code leaves q_a/kv_a norms at their class default
L2_NORM_EPS = 1e-6  # added to the sum of squares, not to the mean


@dataclasses.dataclass(frozen=True)
class Config:
    """One field per key; None stands for an absent or null key."""

    hidden: int
    layers: int
    vocab: int
    norm_eps: float
    heads: int
    q_lora_rank: Optional[int]
    kv_lora_rank: int
    nope_dim: int
    rope_dim: int
    v_dim: int
    mla_output_gate: bool
    kda_layers: tuple  # 1-based, as in the file
    kda_heads: int
    kda_dim: int
    conv_width: int
    gate_lower_bound: Optional[float]
    full_rank_gate: bool
    attn_res_block: Optional[int]
    intermediate: int
    activation: str
    situ_beta: float
    situ_linear_beta: Optional[float]
    experts: Optional[int]
    experts_per_token: int
    shared_experts: int
    expert_width: int
    latent: Optional[int]
    latent_norm: bool
    first_dense: int
    moe_freq: int
    router: str
    renormalize: bool
    routed_scale: float
    groups: int
    topk_group: int
    tied: bool
    prefix: str  # of every tensor name

    def is_kda(self, layer):
        return layer + 1 in self.kda_layers

    def is_moe(self, layer):
        return self.experts is not None and layer >= self.first_dense and layer % self.moe_freq == 0


def load(path):
    """Config of a snapshot directory or a config.json."""
    path = pathlib.Path(path)
    top = json.loads((path / "config.json" if path.is_dir() else path).read_text())
    return from_json(top)


def from_json(top):
    text = top.get("text_config", top)
    linear = text["linear_attn_config"]
    return Config(
        hidden=text["hidden_size"],
        layers=text["num_hidden_layers"],
        vocab=text["vocab_size"],
        norm_eps=text.get("rms_norm_eps", 1e-6),
        heads=text["num_attention_heads"],
        q_lora_rank=text.get("q_lora_rank"),
        kv_lora_rank=text["kv_lora_rank"],
        nope_dim=text["qk_nope_head_dim"],
        rope_dim=text["qk_rope_head_dim"],
        v_dim=text["v_head_dim"],
        mla_output_gate=text.get("mla_use_output_gate", False),
        kda_layers=tuple(linear["kda_layers"]),
        kda_heads=linear["num_heads"],
        kda_dim=linear["head_dim"],
        conv_width=linear["short_conv_kernel_size"],
        gate_lower_bound=linear.get("gate_lower_bound"),
        full_rank_gate=linear.get("use_full_rank_gate", False),
        attn_res_block=text.get("attn_res_block_size"),
        intermediate=text["intermediate_size"],
        activation=text["hidden_act"],
        situ_beta=text.get("activation_situ_beta") or 1.0,
        situ_linear_beta=text.get("activation_situ_linear_beta"),
        experts=text.get("num_experts"),
        experts_per_token=text.get("num_experts_per_token") or 1,
        shared_experts=text.get("num_shared_experts") or 0,
        expert_width=text.get("moe_intermediate_size") or 0,
        latent=text.get("routed_expert_hidden_size"),
        latent_norm=text.get("latent_moe_use_norm", False),
        first_dense=text.get("first_k_dense_replace", 0),
        moe_freq=text.get("moe_layer_freq", 1),
        router=text.get("moe_router_activation_func", "sigmoid"),
        renormalize=text.get("moe_renormalize", True),
        routed_scale=text.get("routed_scaling_factor", 1.0),
        groups=text.get("num_expert_group") or 1,
        topk_group=text.get("topk_group") or 1,
        tied=bool(text.get("tie_word_embeddings", top.get("tie_word_embeddings", False))),
        prefix="language_model." if "text_config" in top else "",
    )
