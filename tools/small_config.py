# SPDX-License-Identifier: Apache-2.0
"""What config.json says of small K3 models made here: every switch as released, sizes that a laptop holds."""

from .nano_tokenizer import END_OF_MSG, MEDIA_PAD, PAD

# Of the bundled model; another one replaces keys.
TEXT = {
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
LINEAR = {
    "full_attn_layers": [4, 6], "kda_layers": [1, 2, 3, 5], "gate_lower_bound": -5.0, "head_dim": 32,
    "num_heads": 4, "short_conv_kernel_size": 4, "use_full_rank_gate": True,
}  # fmt: skip


def config_json(tokenizer, text, linear, **changes):
    """The config.json value; changes replace keys of the text model."""
    ids = {
        "bos_token_id": tokenizer.special(0),
        "eos_token_id": tokenizer.special(END_OF_MSG),
        "pad_token_id": tokenizer.special(PAD),
    }
    text = {**text, **ids, "vocab_size": tokenizer.vocab_size, "linear_attn_config": dict(linear), **changes}
    text["quantization_config"] = {"quant_method": "compressed-tensors", "format": "mxfp4-pack-quantized"}
    return {
        "architectures": ["KimiK3ForConditionalGeneration"],
        "model_type": "kimi_k3",
        **ids,
        "media_placeholder_token_id": tokenizer.special(MEDIA_PAD),
        "text_config": text,
        "tie_word_embeddings": False,
    }
