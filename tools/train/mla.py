# SPDX-License-Identifier: Apache-2.0
"""Gated latent attention (nothing rotated) over packed documents, in expanded form."""

import jax
import jax.numpy as jnp

from ..reference.config import LOW_RANK_NORM_EPS
from . import ops

QUERY_BLOCK = 128  # queries at a time: keys after them are left out
BLOCKS = 8  # at most, so that long rows compile in reasonable time


def _attend(q, k, v, segments, start):
    """Causal attention of queries that begin at `start` of the row, within documents."""
    length = q.shape[1]
    end = start + length
    scores = ops.held(jnp.einsum("rthd,rshd->rhts", q, k[:, :end]))
    position = jnp.arange(end)
    causal = position[None, :] <= start + jnp.arange(length)[:, None]
    visible = causal & (segments[:, start:end, None] == segments[:, None, :end])
    p = jax.nn.softmax(jnp.where(visible[:, None], scores, -1e30), axis=-1)
    return ops.held(jnp.einsum("rhts,rshd->rthd", p, v[:, :end]))


def mla(x, w, config, segments):
    """The layer on normed inputs x [rows, length, hidden]; w maps short tensor names to arrays."""
    c = config
    rows, length = x.shape[:2]
    low, compressed, gate = ops.linear(x, w("q_a_proj.weight"), w("kv_a_proj_with_mqa.weight"), w("g_proj.weight"))
    low = ops.rms_norm(low, w("q_a_layernorm.weight"), LOW_RANK_NORM_EPS)
    q = ops.linear(low, w("q_b_proj.weight")).reshape(rows, length, c.heads, -1)
    latent = ops.rms_norm(compressed[..., : c.kv_lora_rank], w("kv_a_layernorm.weight"), LOW_RANK_NORM_EPS)
    expanded = ops.linear(latent, w("kv_b_proj.weight")).reshape(rows, length, c.heads, c.nope_dim + c.v_dim)
    shared = jnp.broadcast_to(compressed[:, :, None, c.kv_lora_rank :], (rows, length, c.heads, c.rope_dim))
    k = jnp.concatenate([expanded[..., : c.nope_dim], shared], axis=-1)
    q = q * (c.nope_dim + c.rope_dim) ** -0.5
    block = max(min(QUERY_BLOCK, length), length // BLOCKS)
    parts = [_attend(q[:, s : s + block], k, expanded[..., c.nope_dim :], segments, s) for s in range(0, length, block)]
    out = jnp.concatenate(parts, axis=1).reshape(rows, length, -1)
    return ops.linear(out * jax.nn.sigmoid(gate), w("o_proj.weight"))
