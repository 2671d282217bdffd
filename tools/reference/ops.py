# SPDX-License-Identifier: Apache-2.0
"""Element-wise functions, norms and mixing sites. All arrays are float64, tokens first."""

import numpy as np

STATE_FLUSH = 2.0**-100  # smaller recurrent-state entries become 0 after each write, by definition


def sigmoid(x):
    return np.where(x >= 0, 1 / (1 + np.exp(-np.abs(x))), np.exp(-np.abs(x)) / (1 + np.exp(-np.abs(x))))


def silu(x):
    return x * sigmoid(x)


def softplus(x):
    return np.logaddexp(0.0, x)


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def rms_norm(x, weight, eps):
    return weight * x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + eps)


def l2_normalize(x, eps):
    return x / np.sqrt((x * x).sum(axis=-1, keepdims=True) + eps)


def glu(gate, up, config):
    """SiLU(gate)*up, or SiTU: both branches capped by tanh, the sigmoid takes the uncapped gate."""
    if config.activation == "silu":
        return silu(gate) * up
    if config.activation != "situ":
        raise ValueError(f"hidden_act: expected silu or situ, found {config.activation}")
    beta, linear_beta = config.situ_beta, config.situ_linear_beta
    if linear_beta is not None:
        up = linear_beta * np.tanh(up / linear_beta)
    return beta * np.tanh(gate / beta) * sigmoid(gate) * up


def attn_res_mix(blocks, stream, norm_weight, proj_weight, eps):
    """Softmax-weighted sum of the raw saved blocks and the stream, scored by their normed dot with the query."""
    sources = np.stack([*blocks, stream])  # [sources, tokens, hidden]
    scores = rms_norm(sources, norm_weight, eps) @ proj_weight.reshape(-1)
    weights = softmax(scores.T).T
    return (weights[:, :, None] * sources).sum(axis=0)


def short_conv(x, kernel, tail):
    """Causal depthwise convolution and SiLU.

    x [tokens, channels], kernel [channels, width], tail [width-1, channels] = the inputs before x, oldest first.
    Returns (y, new tail).
    """
    width = kernel.shape[1]
    padded = np.concatenate([tail, x])
    y = sum(padded[j : j + len(x)] * kernel[:, j] for j in range(width))
    return silu(y), padded[len(padded) - (width - 1) :]


def kda_decay_log(z, a_log, dt_bias, lower_bound):
    """g [tokens, heads, dim] <= 0 from z [tokens, heads, dim], a_log [heads], dt_bias [heads, dim]."""
    rate, x = np.exp(a_log)[:, None], z + dt_bias
    return -rate * softplus(x) if lower_bound is None else lower_bound * sigmoid(rate * x)


def kda_recurrence(q, k, v, alpha, beta, state):
    """Delta rule with per-channel decay: q, k, alpha [tokens, heads, dk], v [tokens, heads, dv], beta [tokens, heads].

    q comes scaled and q, k normalised. Updates state [heads, dk, dv] in place, returns o [tokens, heads, dv].
    """
    out = np.empty_like(v)
    for t in range(len(q)):
        state *= alpha[t][:, :, None]
        read = np.einsum("hk,hkv->hv", k[t], state)
        write = beta[t][:, None] * (v[t] - read)
        state += k[t][:, :, None] * write[:, None, :]
        state[np.abs(state) < STATE_FLUSH] = 0.0
        out[t] = np.einsum("hk,hkv->hv", q[t], state)
    return out


def router(x, gate, bias, config):
    """(expert ids [tokens, k], weights [tokens, k]); selection uses biased scores, weights the unbiased ones."""
    logits = x @ gate.T
    scores = softmax(logits) if config.router == "softmax" else sigmoid(logits)
    choice = scores + bias
    if config.groups > config.topk_group:
        grouped = choice.reshape(len(x), config.groups, -1)
        group_score = np.sort(grouped, axis=-1)[:, :, -2:].sum(axis=-1)
        kept = np.argsort(-group_score, axis=-1, kind="stable")[:, : config.topk_group]
        mask = np.zeros(group_score.shape, bool)
        np.put_along_axis(mask, kept, True, axis=-1)
        choice = np.where(np.repeat(mask, grouped.shape[2], axis=1), choice, -np.inf)
    ids = np.argsort(-choice, axis=-1, kind="stable")[:, : config.experts_per_token]
    weights = np.take_along_axis(scores, ids, axis=-1)
    if config.renormalize and config.experts_per_token > 1:
        weights = weights / (weights.sum(axis=-1, keepdims=True) + 1e-20)
    return ids, weights * config.routed_scale
