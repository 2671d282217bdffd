# SPDX-License-Identifier: Apache-2.0
"""The trained model's configuration: config.json of the export, which all code here reads too."""

from .. import small_config
from ..reference import config as reference_config

_TEXT = {
    **small_config.TEXT, "q_lora_rank": 64, "intermediate_size": 320, "num_experts": 32, "num_experts_per_token": 4,
}  # fmt: skip
_LINEAR = {**small_config.LINEAR, "full_attn_layers": [3, 6], "kda_layers": [1, 2, 4, 5]}
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
    return small_config.config_json(tokenizer, _TEXT, _LINEAR, **changes)


def parse(value):
    """The switches as the reference model reads them."""
    return reference_config.from_json(value)
