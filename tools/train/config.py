# SPDX-License-Identifier: Apache-2.0
"""The trained model's configuration: config.json of the export, which all code here reads too."""

from ..nano_tokenizer import END_OF_MSG, MEDIA_PAD, PAD
from ..reference import config as reference_config

_TEXT = {
    "model_type": "kimi_linear", "hidden_size": 160, "num_hidden_layers": 6, "rms_norm_eps": 1e-05,
    "num_attention_heads": 4, "num_key_value_heads": 4, "q_lora_rank": 64, "kv_lora_rank": 64, "qk_nope_head_dim": 32,
    "qk_rope_head_dim": 16, "v_head_dim": 32, "mla_use_nope": True, "mla_use_output_gate": True,
    "intermediate_size": 320, "moe_intermediate_size": 64, "first_k_dense_replace": 1, "moe_layer_freq": 1,
    "num_experts": 32, "num_experts_per_token": 4, "num_shared_experts": 2, "routed_expert_hidden_size": 64,
    "latent_moe_use_norm": True, "routed_scaling_factor": 1.0, "moe_renormalize": True,
    "moe_router_activation_func": "sigmoid", "num_expert_group": 1, "topk_group": 1, "use_grouped_topk": True,
    "topk_method": "noaux_tc", "attn_res_block_size": 3, "hidden_act": "situ", "activation_situ_beta": 4.0,
    "activation_situ_linear_beta": 25.0, "tie_word_embeddings": False, "max_position_embeddings": 1048576,
}  # fmt: skip
_LINEAR = {
    "full_attn_layers": [3, 6], "kda_layers": [1, 2, 4, 5], "gate_lower_bound": -5.0, "head_dim": 32,
    "num_heads": 4, "short_conv_kernel_size": 4, "use_full_rank_gate": True,
}  # fmt: skip
VISION = {
    "activation_func": "gelu_pytorch_tanh", "attn_bias": False, "init_pos_emb_height": 8, "init_pos_emb_time": 4,
    "init_pos_emb_width": 8, "linear_bias": False, "merge_kernel_size": [2, 2], "merge_type": "sd2_tpool", "mlp_type": "mlp2",
    "mm_hidden_size": 64, "mm_projector_type": "patchmergerv2", "norm_type": "rmsnorm", "patch_embed_proj_bias": False,
    "patch_size": 14, "pos_emb_interpolation_mode": "bilinear", "pos_emb_type": "divided_fixed", "projector_hidden_act": "gelu",
    "projector_ln_eps": 1e-05, "qkv_hidden_size": 64, "vt_hidden_size": 64, "vt_intermediate_size": 192,
    "vt_num_attention_heads": 2, "vt_num_hidden_layers": 3,
}  # fmt: skip


def config_json(tokenizer, **changes):
    """The config.json value; changes replace keys of the text model."""
    ids = {
        "bos_token_id": tokenizer.special(0),
        "eos_token_id": tokenizer.special(END_OF_MSG),
        "pad_token_id": tokenizer.special(PAD),
    }
    text = {**_TEXT, **ids, "vocab_size": tokenizer.vocab_size, "linear_attn_config": dict(_LINEAR), **changes}
    text["quantization_config"] = {"quant_method": "compressed-tensors", "format": "mxfp4-pack-quantized"}
    return {
        "architectures": ["KimiK3ForConditionalGeneration"], "model_type": "kimi_k3", **ids,
        "media_placeholder_token_id": tokenizer.special(MEDIA_PAD), "text_config": text, "tie_word_embeddings": False,
    }  # fmt: skip


def parse(value):
    """The switches as the reference model reads them."""
    return reference_config.from_json(value)
