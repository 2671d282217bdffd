# SPDX-License-Identifier: Apache-2.0
"""Kimi Delta Attention over packed documents, in chunks of 16 tokens.

Within a chunk decays are kept as factors around its middle row, so that with a lower bound of -5 no exponent
exceeds 40. Tokens of different documents never meet: pairs are masked, and the state passes a chunk's edge only
where the document goes on.
"""

import jax
import jax.numpy as jnp

from ..reference.config import L2_NORM_EPS
from . import ops

CHUNK = 16


def _inverse_of_unit_lower(lower):
    """(I + lower)^-1 for strictly lower [..., 16, 16]: blocks of 4 exactly, then merged in pairs."""
    size = lower.shape[-1]
    width = 4
    batch = lower.shape[:-2]
    blocks = jnp.stack([lower[..., i : i + width, i : i + width] for i in range(0, size, width)], axis=-3)
    eye = jnp.eye(width, dtype=lower.dtype)
    square = blocks @ blocks
    inverse = (eye - blocks) @ (eye + square)  # blocks^4 = 0
    parts = [inverse[..., i, :, :] for i in range(size // width)]
    while width < size:
        merged = []
        for i in range(0, len(parts), 2):
            a, b = parts[i], parts[i + 1]
            row = (i + 1) * width
            corner = lower[..., row : row + width, row - width : row]
            low = -(b @ corner @ a)
            top = jnp.concatenate([a, jnp.zeros((*batch, width, width), a.dtype)], axis=-1)
            merged.append(jnp.concatenate([top, jnp.concatenate([low, b], axis=-1)], axis=-2))
        parts, width = merged, width * 2
    return parts[0]


def recurrence(q, k, v, g, beta, segments):
    """Output [rows, length, heads, dim] of the delta rule; q, k normalised and scaled, g <= 0 the log decay.

    q, k, v, g [rows, length, heads, dim], beta [rows, length, heads], segments [rows, length]. length is a multiple
    of CHUNK.
    """
    rows, length, heads, dim = q.shape
    chunks = length // CHUNK

    def split(x):  # -> [chunks, rows, heads, CHUNK, ...]
        x = x.reshape(rows, chunks, CHUNK, heads, -1)
        return x.transpose(1, 0, 3, 2, 4)

    q, k, v, g, beta = (split(x) for x in (q, k, v, g, beta))
    seg = segments.reshape(rows, chunks, CHUNK).transpose(1, 0, 2)
    before = jnp.concatenate(
        [jnp.full_like(seg[:1, :, -1], -2), seg[:-1, :, -1]]
    )  # document at the end of the chunk before
    goes_on = (seg == before[..., None]).astype(q.dtype)[:, :, None, :, None]
    same = (seg[..., :, None] == seg[..., None, :])[:, :, None]
    to_end = (seg == seg[..., -1:]).astype(q.dtype)[:, :, None, :, None]

    total = jnp.cumsum(g, axis=-2)
    middle = total[..., CHUNK // 2 - 1 : CHUNK // 2, :]
    up, down = jnp.exp(total - middle), jnp.exp(middle - total)
    columns = jnp.swapaxes(k * down, -1, -2)
    lower = jnp.tril(jnp.ones((CHUNK, CHUNK), bool))
    among = jnp.where(same & (lower & ~jnp.eye(CHUNK, dtype=bool)), ops.held((k * up) @ columns), 0.0) * beta
    scores = jnp.where(same & lower, ops.held((q * up) @ columns), 0.0)
    from_start = jnp.exp(total) * goes_on
    solved = _inverse_of_unit_lower(among) @ (beta * jnp.concatenate([v, from_start * k], axis=-1))
    writes, reads = solved[..., :dim], solved[..., dim:]
    last = total[..., -1:, :]
    keys = jnp.swapaxes(jnp.exp(last - total) * to_end * k, -1, -2)
    kept = jnp.swapaxes(jnp.exp(last) * goes_on[..., -1:, :], -1, -2)
    both = jnp.concatenate([reads, from_start * q], axis=-2)

    def step(state, x):
        both, writes, keys, kept = x
        seen = both @ state
        written = writes - seen[..., :CHUNK, :]
        return kept * state + keys @ written, (written, seen[..., CHUNK:, :])

    zero = jnp.zeros((rows, heads, dim, dim), q.dtype)
    _, (written, out) = jax.lax.scan(step, zero, (both, writes, keys, kept))
    out = out + ops.held(scores @ written)
    return out.transpose(1, 0, 3, 2, 4).reshape(rows, length, heads, dim)


def kda(x, w, config, segments):
    """The layer on normed inputs x [rows, length, hidden]; w maps short tensor names to arrays."""
    c = config
    shape = (*x.shape[:2], c.kda_heads, c.kda_dim)
    names = ("q_proj", "k_proj", "v_proj", "g_proj", "f_a_proj", "b_proj")
    *projected, gate, f, beta = ops.linear(x, *(w(f"{n}.weight") for n in names))
    kernels = (w(f"{n}_conv1d.weight").reshape(-1, c.conv_width) for n in "qkv")
    q, k, v = (ops.short_conv(y, kernel, segments).reshape(shape) for y, kernel in zip(projected, kernels))
    q = ops.l2_normalize(q, L2_NORM_EPS) * c.kda_dim**-0.5
    k = ops.l2_normalize(k, L2_NORM_EPS)
    z = ops.linear(f, w("f_b_proj.weight")).reshape(shape)
    rate, z = jnp.exp(w("A_log"))[:, None], z + w("dt_bias").reshape(c.kda_heads, c.kda_dim)
    g = c.gate_lower_bound * jax.nn.sigmoid(rate * z)
    o = recurrence(q, k, v, g, jax.nn.sigmoid(beta), segments)
    y = ops.rms_norm(o, w("o_norm.weight"), c.norm_eps) * jax.nn.sigmoid(gate.reshape(shape))
    return ops.linear(y.reshape(*x.shape[:2], -1), w("o_proj.weight"))
