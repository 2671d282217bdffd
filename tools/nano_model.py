# SPDX-License-Identifier: Apache-2.0
"""Configuration and fixed random weights of the bundled model; only lm_head is fitted afterwards (nano_fit)."""

import numpy as np

from . import deterministic_random as random
from .nano_tokenizer import END_OF_MSG, MEDIA_PAD, PAD
from .synthetic_weights import Storage, WeightMaker

SEED = "daybreak nano 1 "
RANKS = 1536
_TEXT = {
    "model_type": "kimi_linear", "hidden_size": 160, "num_hidden_layers": 6, "rms_norm_eps": 1e-05,
    "num_attention_heads": 4, "num_key_value_heads": 4, "q_lora_rank": 48, "kv_lora_rank": 64, "qk_nope_head_dim": 32,
    "qk_rope_head_dim": 16, "v_head_dim": 32, "mla_use_nope": True, "mla_use_output_gate": True,
    "intermediate_size": 256, "moe_intermediate_size": 64, "first_k_dense_replace": 1, "moe_layer_freq": 1,
    "num_experts": 8, "num_experts_per_token": 2, "num_shared_experts": 2, "routed_expert_hidden_size": 64,
    "latent_moe_use_norm": True, "routed_scaling_factor": 1.0, "moe_renormalize": True,
    "moe_router_activation_func": "sigmoid", "num_expert_group": 1, "topk_group": 1, "use_grouped_topk": True,
    "topk_method": "noaux_tc", "attn_res_block_size": 3, "hidden_act": "situ", "activation_situ_beta": 4.0,
    "activation_situ_linear_beta": 25.0, "tie_word_embeddings": False, "max_position_embeddings": 1048576,
}  # fmt: skip
_LINEAR = {
    "full_attn_layers": [4, 6], "kda_layers": [1, 2, 3, 5], "gate_lower_bound": -5.0, "head_dim": 32,
    "num_heads": 4, "short_conv_kernel_size": 4, "use_full_rank_gate": True,
}  # fmt: skip
# Per KDA head: mean of dt_bias (3 forgets at once, -4 remembers) and gain of its part of o_proj. The fast heads carry
# the last few tokens, which the readout needs; the slow ones and full attention carry the whole prompt, kept faint.
_HEAD_DT = (3.0, 3.0, -1.0, -4.0)
_HEAD_GAIN = (1.0, 1.0, 0.3, 0.2)
_ATTENTION_GAIN = 0.2


def config(tokenizer):
    """The config.json value."""
    ids = {
        "bos_token_id": tokenizer.special(0),
        "eos_token_id": tokenizer.special(END_OF_MSG),
        "pad_token_id": tokenizer.special(PAD),
    }
    quantization = {"quant_method": "compressed-tensors", "format": "mxfp4-pack-quantized"}
    text = {**_TEXT, **ids, "vocab_size": tokenizer.vocab_size, "linear_attn_config": dict(_LINEAR)}
    return {
        "architectures": ["KimiK3ForConditionalGeneration"],
        "model_type": "kimi_k3",
        **ids,
        "media_placeholder_token_id": tokenizer.special(MEDIA_PAD),
        "text_config": {**text, "quantization_config": quantization},
        "tie_word_embeddings": False,
    }


class NanoWeights(WeightMaker):
    """Random weights, with the memory of each KDA head chosen."""

    def __init__(self, config_json):
        super().__init__(config_json, Storage(), SEED)

    def _add(self, name, dtype, shape, std, mean=0.0):
        c, full = self.config, self.config.prefix + name
        if name.endswith("dt_bias"):
            values = random.normal(self.seed + full, shape, 0.5) + np.repeat(_HEAD_DT, c.kda_dim)
        elif name.endswith("self_attn.o_proj.weight"):
            kda = c.is_kda(int(name.split(".")[2]))
            gain = np.repeat(_HEAD_GAIN, c.kda_dim) if kda else _ATTENTION_GAIN
            values = random.normal(self.seed + full, shape, std) * gain
        else:
            super()._add(name, dtype, shape, std, mean)
            return
        self.tensors.add(full, dtype, values)
