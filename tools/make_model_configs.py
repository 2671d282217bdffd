#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes testdata/model/*.config.json: the sizes and switches of the two released models of the
family, and a small one with everything switched on. Facts only: keys that the reader does not use
are left out. usage: make_model_configs.py [OUT_DIR]"""
import json
import pathlib
import sys


def layers(total, full):
    return {"full_attn_layers": full, "kda_layers": [i for i in range(1, total + 1) if i not in full]}


MXFP4 = {
    "quant_method": "compressed-tensors",
    "format": "mxfp4-pack-quantized",
    "config_groups": {"group_0": {"format": "mxfp4-pack-quantized", "targets": ["Linear"],
                                  "weights": {"num_bits": 4, "group_size": 32, "type": "float",
                                              "strategy": "group"}}},
}

K3_TEXT = {
    "model_type": "kimi_linear", "vocab_size": 163840, "hidden_size": 7168, "num_hidden_layers": 93,
    "intermediate_size": 33792, "rms_norm_eps": 1e-05, "hidden_act": "situ",
    "activation_situ_beta": 4.0, "activation_situ_linear_beta": 25.0, "attn_res_block_size": 12,
    "num_attention_heads": 96, "num_key_value_heads": 96, "q_lora_rank": 1536, "kv_lora_rank": 512,
    "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "mla_use_nope": True,
    "mla_use_output_gate": True, "max_position_embeddings": 1048576,
    "linear_attn_config": {**layers(93, list(range(4, 93, 4)) + [93]), "num_heads": 96,
                           "head_dim": 128, "short_conv_kernel_size": 4, "gate_lower_bound": -5.0,
                           "use_full_rank_gate": True},
    "num_experts": 896, "num_experts_per_token": 16, "num_shared_experts": 2,
    "moe_intermediate_size": 3072, "routed_expert_hidden_size": 3584, "latent_moe_use_norm": True,
    "moe_router_activation_func": "sigmoid", "moe_renormalize": True, "routed_scaling_factor": 1.0,
    "num_expert_group": 1, "topk_group": 1, "use_grouped_topk": True, "topk_method": "noaux_tc",
    "first_k_dense_replace": 1, "moe_layer_freq": 1, "bos_token_id": 163584,
    "eos_token_id": 163586, "pad_token_id": 163839, "quantization_config": MXFP4,
}

K3 = {
    "architectures": ["KimiK3ForConditionalGeneration"], "model_type": "kimi_k3",
    "bos_token_id": 163584, "eos_token_id": 163586, "pad_token_id": 163839,
    "media_placeholder_token_id": 163605, "tie_word_embeddings": False, "text_config": K3_TEXT,
    "vision_config": {
        "patch_size": 14, "init_pos_emb_height": 64, "init_pos_emb_width": 64,
        "init_pos_emb_time": 4, "vt_hidden_size": 1024, "vt_intermediate_size": 4096,
        "vt_num_attention_heads": 12, "vt_num_hidden_layers": 27, "qkv_hidden_size": 1536,
        "merge_kernel_size": [2, 2], "mm_hidden_size": 1024, "text_hidden_size": 7168,
        "projector_ln_eps": 1e-05,
    },
}

KIMI_LINEAR = {
    "architectures": ["KimiLinearForCausalLM"], "model_type": "kimi_linear", "vocab_size": 163840,
    "hidden_size": 2304, "num_hidden_layers": 27, "intermediate_size": 9216, "rms_norm_eps": 1e-05,
    "hidden_act": "silu", "num_attention_heads": 32, "num_key_value_heads": 32,
    "q_lora_rank": None, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
    "v_head_dim": 128, "mla_use_nope": True, "model_max_length": 1048576,
    "linear_attn_config": {**layers(27, [4, 8, 12, 16, 20, 24, 27]), "num_heads": 32,
                           "head_dim": 128, "short_conv_kernel_size": 4},
    "num_experts": 256, "num_experts_per_token": 8, "num_shared_experts": 1,
    "moe_intermediate_size": 1024, "moe_router_activation_func": "sigmoid",
    "moe_renormalize": True, "routed_scaling_factor": 2.446, "num_expert_group": 1,
    "topk_group": 1, "first_k_dense_replace": 1, "moe_layer_freq": 1, "bos_token_id": 163584,
    "eos_token_id": 163586, "pad_token_id": 163839, "tie_word_embeddings": False,
}

TINY = {
    "architectures": ["KimiK3ForConditionalGeneration"], "model_type": "kimi_k3",
    "tie_word_embeddings": False,
    "text_config": {
        **K3_TEXT, "vocab_size": 96, "hidden_size": 64, "num_hidden_layers": 4,
        "intermediate_size": 80, "attn_res_block_size": 2, "num_attention_heads": 2,
        "num_key_value_heads": 2, "q_lora_rank": 24, "kv_lora_rank": 32, "qk_nope_head_dim": 16,
        "qk_rope_head_dim": 8, "v_head_dim": 16, "max_position_embeddings": 4096,
        "linear_attn_config": {**layers(4, [3, 4]), "num_heads": 3, "head_dim": 16,
                               "short_conv_kernel_size": 4, "gate_lower_bound": -5.0,
                               "use_full_rank_gate": True},
        "num_experts": 6, "num_experts_per_token": 2, "moe_intermediate_size": 32,
        "routed_expert_hidden_size": 64, "bos_token_id": 1, "eos_token_id": [2, 3],
        "pad_token_id": 0,
    },
    "vision_config": {
        "patch_size": 14, "init_pos_emb_height": 8, "init_pos_emb_width": 8,
        "vt_hidden_size": 32, "vt_intermediate_size": 48, "vt_num_attention_heads": 2,
        "vt_num_hidden_layers": 1, "qkv_hidden_size": 64, "merge_kernel_size": [2, 2],
        "mm_hidden_size": 32, "text_hidden_size": 64, "projector_ln_eps": 1e-05,
    },
}


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    out = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else root / "testdata" / "model"
    out.mkdir(parents=True, exist_ok=True)
    for name, config in (("k3", K3), ("kimi-linear", KIMI_LINEAR), ("tiny", TINY)):
        (out / f"{name}.config.json").write_text(json.dumps(config, indent=1) + "\n")


if __name__ == "__main__":
    main()
