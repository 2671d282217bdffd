# SPDX-License-Identifier: Apache-2.0
"""The small checkpoints: what each switches on or off. Every switch of the family is on in one and off in another."""

import copy
import dataclasses

from .synthetic_weights import Storage

_TEXT = {
    "model_type": "kimi_linear", "hidden_size": 32, "num_hidden_layers": 4, "vocab_size": 96, "rms_norm_eps": 1e-05,
    "num_attention_heads": 2, "num_key_value_heads": 2, "q_lora_rank": 24, "kv_lora_rank": 16, "qk_nope_head_dim": 16,
    "qk_rope_head_dim": 8, "v_head_dim": 16, "mla_use_nope": True, "mla_use_output_gate": True,
    "intermediate_size": 48, "moe_intermediate_size": 32, "first_k_dense_replace": 1, "moe_layer_freq": 1,
    "num_experts": 4, "num_experts_per_token": 2, "num_shared_experts": 2, "routed_expert_hidden_size": 32,
    "latent_moe_use_norm": True, "routed_scaling_factor": 1.0, "moe_renormalize": True,
    "moe_router_activation_func": "sigmoid", "num_expert_group": 1, "topk_group": 1, "use_grouped_topk": True,
    "topk_method": "noaux_tc", "attn_res_block_size": 2, "hidden_act": "situ", "activation_situ_beta": 4.0,
    "activation_situ_linear_beta": 25.0, "tie_word_embeddings": False,
}  # fmt: skip
_LINEAR = {
    "num_heads": 2, "head_dim": 16, "short_conv_kernel_size": 4, "gate_lower_bound": -5.0,
    "use_full_rank_gate": True,
}  # fmt: skip
_MXFP4 = {"quant_method": "compressed-tensors", "format": "mxfp4-pack-quantized"}


@dataclasses.dataclass(frozen=True)
class Spec:
    """A checkpoint as differences from the full-K3 settings above; None removes a key."""

    about: str
    text: dict = dataclasses.field(default_factory=dict)
    linear: dict = dataclasses.field(default_factory=dict)
    full_attention: tuple = (3, 4)  # 1-based
    storage: Storage = Storage()
    shards: int = 1
    natural_alignment: bool = True
    nested: bool = True

    def config(self):
        """The config.json value."""
        text = _merge(_TEXT, self.text)
        layers = range(1, text["num_hidden_layers"] + 1)
        linear = _merge(_LINEAR, self.linear)
        linear["full_attn_layers"] = [i for i in layers if i in self.full_attention]
        linear["kda_layers"] = [i for i in layers if i not in self.full_attention]
        text["linear_attn_config"] = linear
        if self.storage.experts == "MXFP4" and text.get("num_experts"):
            text["quantization_config"] = copy.deepcopy(_MXFP4)
        if not self.nested:
            return {"architectures": ["KimiLinearForCausalLM"], **text}
        tied = text["tie_word_embeddings"]
        top = {"architectures": ["KimiK3ForConditionalGeneration"], "model_type": "kimi_k3", "text_config": text}
        return {**top, "tie_word_embeddings": tied}


def _merge(base, changes):
    merged = {**copy.deepcopy(base), **changes}
    return {key: value for key, value in merged.items() if value is not None or key == "q_lora_rank"}


CATALOGUE = {
    "k3-all-on": Spec(
        about="every K3 switch on; AttnRes block 3 over 5 layers, so blocks are pushed at layers 0 and 3",
        text={"num_hidden_layers": 5, "attn_res_block_size": 3, "routed_scaling_factor": 2.5},
        full_attention=(4, 5),
    ),
    "kimi-linear": Spec(
        about="Kimi-Linear naming and switches: top-level keys, softplus gate, low-rank output gate, no q_lora, no MLA "
        "gate, no AttnRes, SiLU, full-width bf16 experts, 4-D A_log",
        text={
            "q_lora_rank": None, "mla_use_output_gate": None, "routed_expert_hidden_size": None,
            "latent_moe_use_norm": None, "routed_scaling_factor": 2.446, "num_shared_experts": 1,
            "attn_res_block_size": None, "hidden_act": "silu", "activation_situ_beta": None,
            "activation_situ_linear_beta": None,
        },
        linear={"gate_lower_bound": None, "use_full_rank_gate": None},
        full_attention=(2, 4),
        storage=Storage(experts="BF16", a_log="4d"),
        nested=False,
    ),
    "softplus-low-rank": Spec(
        about="softplus gate and low-rank output gate inside K3; AttnRes block 1 (every layer a block); f32 experts",
        text={"attn_res_block_size": 1, "num_hidden_layers": 3, "num_experts": 3},
        full_attention=(2,),
        linear={"gate_lower_bound": None, "use_full_rank_gate": False},
        storage=Storage(experts="F32", a_log="exact"),
    ),
    "plain-residual-f16": Spec(
        about="no AttnRes, no MLA output gate, no latent norm, SiTU with an uncapped up branch, weights not "
        "renormalised, everything f16",
        text={
            "attn_res_block_size": None, "mla_use_output_gate": False, "latent_moe_use_norm": False,
            "activation_situ_linear_beta": None, "moe_renormalize": False, "routed_scaling_factor": 1.5,
            "num_hidden_layers": 3,
        },
        full_attention=(2,),
        storage=Storage(dense="F16", experts="F16", conv="F16", o_norm="F16", router="F16"),
    ),
    "grouped-softmax": Spec(
        about="softmax router, 8 experts in 4 groups of which 2 are kept, top 3",
        text={
            "moe_router_activation_func": "softmax", "num_experts": 8, "num_experts_per_token": 3,
            "num_expert_group": 4, "topk_group": 2, "num_hidden_layers": 3,
        },
        full_attention=(3,),
    ),
    "grouped-sigmoid": Spec(
        about="sigmoid router, 6 experts in 3 groups of which 1 is kept; no shared experts; f32 router weight",
        text={
            "num_experts": 6, "num_expert_group": 3, "topk_group": 1, "num_shared_experts": None,
            "num_hidden_layers": 3,
        },
        full_attention=(2,),
        storage=Storage(router="F32"),
    ),
    "tied-two-shards": Spec(
        about="tied embeddings, hidden 64, two shards and an index that splits packed from scale",
        text={"tie_word_embeddings": True, "hidden_size": 64, "num_hidden_layers": 3, "vocab_size": 128},
        full_attention=(3,),
        storage=Storage(embed_std=0.25),
        shards=2,
    ),
    "dense-only": Spec(
        about="no experts at all; AttnRes block larger than the stack; SiLU",
        text={
            "num_experts": None, "num_experts_per_token": None, "num_shared_experts": None,
            "routed_expert_hidden_size": None, "latent_moe_use_norm": None, "attn_res_block_size": 12,
            "hidden_act": "silu",
        },
    ),
    "fp8-experts": Spec(
        about="FP8 E4M3 experts at full width, top 1, MoE on every second layer only, first layer too",
        text={
            "routed_expert_hidden_size": None, "latent_moe_use_norm": None, "num_experts_per_token": 1,
            "moe_layer_freq": 2, "first_k_dense_replace": 0,
        },
        storage=Storage(experts="F8_E4M3"),
    ),
    "odd-sizes": Spec(
        about="sizes that divide by nothing, 3 KDA heads and 5 MLA heads, convolution width 3, eps 1e-6 by default, "
        "tensors packed without alignment",
        text={
            "hidden_size": 39, "vocab_size": 97, "num_attention_heads": 5, "num_key_value_heads": 5,
            "q_lora_rank": 19, "kv_lora_rank": 21, "qk_nope_head_dim": 11, "qk_rope_head_dim": 3, "v_head_dim": 13,
            "intermediate_size": 51, "num_experts": 3, "num_hidden_layers": 3, "rms_norm_eps": None,
            "activation_situ_beta": 2.0,
        },
        linear={"num_heads": 3, "head_dim": 13, "short_conv_kernel_size": 3, "gate_lower_bound": -2.5},
        full_attention=(2,),
        natural_alignment=False,
    ),
    "all-kda-bf16": Spec(
        about="no MLA layer; convolution and o_norm stored in bf16",
        text={"num_hidden_layers": 3},
        full_attention=(),
        storage=Storage(conv="BF16", o_norm="BF16"),
    ),
    "all-mla": Spec(
        about="no KDA layer; latent experts without norm, SiLU",
        text={"num_hidden_layers": 3, "latent_moe_use_norm": False, "hidden_act": "silu"},
        full_attention=(1, 2, 3),
    ),
}  # fmt: skip
