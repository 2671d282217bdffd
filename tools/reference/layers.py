# SPDX-License-Identifier: Apache-2.0
"""Attention and feed-forward sublayers. `w` is a function from a tensor's short name to its float64 array."""

import numpy as np

from . import ops
from .config import L2_NORM_EPS, LOW_RANK_NORM_EPS


class KdaState:
    """Recurrent state and convolution tails of one KDA layer of one sequence."""

    def __init__(self, config):
        heads, dim = config.kda_heads, config.kda_dim
        self.state = np.zeros((heads, dim, dim))
        self.tails = {name: np.zeros((config.conv_width - 1, heads * dim)) for name in "qkv"}


def kda(x, w, config, cache):
    """Kimi Delta Attention of normed inputs x [tokens, hidden]; advances cache."""
    heads, dim, tokens = config.kda_heads, config.kda_dim, len(x)

    def project(name):
        y, cache.tails[name] = ops.short_conv(
            x @ w(f"{name}_proj.weight").T, w(f"{name}_conv1d.weight").reshape(heads * dim, -1), cache.tails[name]
        )
        return y.reshape(tokens, heads, dim)

    q = ops.l2_normalize(project("q"), L2_NORM_EPS) * dim**-0.5
    k = ops.l2_normalize(project("k"), L2_NORM_EPS)
    v = project("v")
    z = (x @ w("f_a_proj.weight").T @ w("f_b_proj.weight").T).reshape(tokens, heads, dim)
    # A_log is stored padded or 4-D; its first entries belong to the heads.
    g = ops.kda_decay_log(z, w("A_log").reshape(-1)[:heads], w("dt_bias").reshape(heads, dim), config.gate_lower_bound)
    beta = ops.sigmoid(x @ w("b_proj.weight").T)
    o = ops.kda_recurrence(q, k, v, np.exp(g), beta, cache.state)
    if config.full_rank_gate:
        gate = x @ w("g_proj.weight").T
    else:
        gate = x @ w("g_a_proj.weight").T @ w("g_b_proj.weight").T
    y = ops.rms_norm(o, w("o_norm.weight"), config.norm_eps) * ops.sigmoid(gate.reshape(o.shape))
    return y.reshape(tokens, -1) @ w("o_proj.weight").T


class MlaState:
    """Expanded keys and values of one MLA layer of one sequence."""

    def __init__(self, config):
        self.keys = np.zeros((0, config.heads, config.nope_dim + config.rope_dim))
        self.values = np.zeros((0, config.heads, config.v_dim))


def mla(x, w, config, cache):
    """Gated latent attention (no rotation) in expanded form; advances cache."""
    heads, nope, rope, tokens = config.heads, config.nope_dim, config.rope_dim, len(x)
    if config.q_lora_rank is None:
        q = x @ w("q_proj.weight").T
    else:
        low = ops.rms_norm(x @ w("q_a_proj.weight").T, w("q_a_layernorm.weight"), LOW_RANK_NORM_EPS)
        q = low @ w("q_b_proj.weight").T
    q = q.reshape(tokens, heads, nope + rope)
    compressed = x @ w("kv_a_proj_with_mqa.weight").T
    rank = config.kv_lora_rank
    latent = ops.rms_norm(compressed[:, :rank], w("kv_a_layernorm.weight"), LOW_RANK_NORM_EPS)
    expanded = (latent @ w("kv_b_proj.weight").T).reshape(tokens, heads, nope + config.v_dim)
    shared_key = np.repeat(compressed[:, None, rank:], heads, axis=1)
    past = len(cache.keys)
    cache.keys = np.concatenate([cache.keys, np.concatenate([expanded[:, :, :nope], shared_key], axis=2)])
    cache.values = np.concatenate([cache.values, expanded[:, :, nope:]])
    scores = np.einsum("thd,shd->hts", q, cache.keys) * (nope + rope) ** -0.5
    visible = np.arange(len(cache.keys))[None, :] <= past + np.arange(tokens)[:, None]
    probabilities = ops.softmax(np.where(visible, scores, -np.inf))
    out = np.einsum("hts,shd->thd", probabilities, cache.values).reshape(tokens, -1)
    if config.mla_output_gate:
        out = out * ops.sigmoid(x @ w("g_proj.weight").T)
    return out @ w("o_proj.weight").T


def dense_mlp(x, w, config, prefix):
    hidden = ops.glu(x @ w(prefix + "gate_proj.weight").T, x @ w(prefix + "up_proj.weight").T, config)
    return hidden @ w(prefix + "down_proj.weight").T


def moe(x, w, config):
    """Routed experts (in a latent space if configured) plus the merged shared expert on the original x."""
    ids, weights = ops.router(x, w("gate.weight"), w("gate.e_score_correction_bias"), config)
    inputs = x if config.latent is None else x @ w("routed_expert_down_proj.weight").T
    routed = np.zeros_like(inputs)
    for expert in np.unique(ids):
        token, slot = np.nonzero(ids == expert)
        name = f"experts.{expert}."
        z = inputs[token]
        hidden = ops.glu(z @ w(name + "w1.weight").T, z @ w(name + "w3.weight").T, config)
        routed[token] += weights[token, slot][:, None] * (hidden @ w(name + "w2.weight").T)
    if config.latent is not None:
        if config.latent_norm:
            routed = ops.rms_norm(routed, w("routed_expert_norm.weight"), config.norm_eps)
        routed = routed @ w("routed_expert_up_proj.weight").T
    if config.shared_experts:
        routed = routed + dense_mlp(x, w, config, "shared_experts.")
    return routed
