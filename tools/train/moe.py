# SPDX-License-Identifier: Apache-2.0
"""Latent mixture of experts: every token reaches its experts, none is dropped.

The (token, expert) pairs are sorted by expert, and each expert's pairs fill blocks of BLOCK rows, so that the
experts' products are one batched product of fixed shape. Rows move by gathers in both directions.
"""

import jax
import jax.numpy as jnp

from . import mxfp4, ops

BLOCK = 128


def route(logits, bias, config):
    """(ids [tokens, k], weights [tokens, k], scores [tokens, experts])."""
    scores = jax.nn.sigmoid(logits)
    _, ids = jax.lax.top_k(jax.lax.stop_gradient(scores) + bias, config.experts_per_token)
    weights = jnp.take_along_axis(scores, ids, axis=-1)
    weights = weights / (weights.sum(axis=-1, keepdims=True) + 1e-20)
    return ids, weights * config.routed_scale, scores


def balanced_bias(scores, bias, counted, k):
    """The selection bias under which each expert would have been chosen by its share k/n of the counted tokens.

    Quantile balancing: a token's cutoff is its (k+1)-th biased score; an expert's bias is minus the (1 - k/n)
    quantile of its distances to the cutoffs, less the mean over experts.
    """
    cutoff = jax.lax.top_k(scores + bias, k + 1)[0][:, -1:]
    distance = jnp.where(counted[:, None], scores - cutoff, -jnp.inf)
    ordered = jnp.sort(distance, axis=0)
    total, used = len(scores), counted.sum()
    place = total - used + jnp.floor(used * (1 - k / scores.shape[1])).astype(jnp.int32)
    fresh = -ordered[jnp.clip(place, 0, total - 1)]
    return jnp.where(used > 0, fresh - fresh.mean(), bias)


@jax.custom_vjp
def _rows(x, token, place):
    """x[token] for the rows of all blocks; token is len(x) for rows without a pair. place [tokens, k] is its inverse."""
    return jnp.take(x, token, axis=0, mode="fill", fill_value=0)


def _rows_forward(x, token, place):
    return _rows(x, token, place), (place,)


def _rows_backward(kept, dy):
    return dy[kept[0]].sum(axis=1), None, None


_rows.defvjp(_rows_forward, _rows_backward)


@jax.custom_vjp
def _combine(y, weights, token, slot, place):
    """sum over a token's pairs of weight times row."""
    return (y[place] * weights[..., None]).sum(axis=1)


def _combine_forward(y, weights, token, slot, place):
    return _combine(y, weights, token, slot, place), (y, weights, token, slot, place)


def _combine_backward(kept, d):
    y, weights, token, slot, place = kept
    weight = weights.at[token, slot].get(mode="fill", fill_value=0)
    dy = jnp.take(d, token, axis=0, mode="fill", fill_value=0) * weight[:, None]
    return dy, (y[place] * d[:, None, :]).sum(axis=-1), None, None, None


_combine.defvjp(_combine_forward, _combine_backward)


def _layout(ids, experts):
    """(token of each row, its slot, place of each pair, expert of each block)."""
    tokens, k = ids.shape
    pairs = tokens * k
    blocks = pairs // BLOCK + experts
    flat = ids.reshape(-1)
    order = jnp.argsort(flat, stable=True)
    counts = jnp.zeros(experts, jnp.int32).at[flat].add(1)
    needed = (counts + BLOCK - 1) // BLOCK
    first_block = jnp.cumsum(needed) - needed
    first_pair = jnp.cumsum(counts) - counts
    by_expert = flat[order]
    row = first_block[by_expert] * BLOCK + jnp.arange(pairs) - first_pair[by_expert]
    place = jnp.zeros(pairs, jnp.int32).at[order].set(row).reshape(tokens, k)
    pair = jnp.full(blocks * BLOCK, pairs, jnp.int32).at[row].set(order)
    expert = jnp.searchsorted(jnp.cumsum(needed), jnp.arange(blocks), side="right")
    return pair // k, pair % k, place, jnp.minimum(expert, experts - 1)


@jax.custom_vjp
def _of_blocks(w, expert):
    return w[expert]


def _of_blocks_backward(kept, d):
    expert, experts = kept
    chosen = jax.nn.one_hot(expert, len(experts), dtype=d.dtype)
    return (chosen.T @ d.reshape(len(expert), -1)).reshape(len(experts), *d.shape[1:]), None


_of_blocks.defvjp(lambda w, expert: (w[expert], (expert, jnp.zeros(len(w)))), _of_blocks_backward)


def experts_of(z, ids, weights, w1, w3, w2, config):
    """Weighted sum of the experts' outputs for latent inputs z [tokens, latent]."""
    token, slot, place, expert = _layout(ids, len(w1))
    rows = _rows(z, token, place).reshape(len(expert), BLOCK, -1)
    both = _of_blocks(jnp.concatenate([w1, w3], axis=1), expert)
    gate, up = jnp.split(ops.held(jnp.einsum("bnl,bfl->bnf", rows, both)), 2, axis=-1)
    y = ops.held(jnp.einsum("bnf,blf->bnl", ops.glu(gate, up, config), _of_blocks(w2, expert)))
    return _combine(y.reshape(-1, y.shape[-1]), weights, token, slot, place)


def experts_dense(z, ids, weights, w1, w3, w2, config):
    """The same with every expert computed for every token; only to compare speed and results."""
    mask = (jax.nn.one_hot(ids, len(w1)) * weights[..., None]).sum(axis=1)
    both = jnp.einsum("tl,efl->etf", z, jnp.concatenate([w1, w3], axis=1))
    gate, up = jnp.split(both, 2, axis=-1)
    return jnp.einsum("etf,elf,te->tl", ops.glu(gate, up, config), w2, mask)


def moe(x, w, config, bias, quantised=True, experts=experts_of):
    """(output, scores) of the layer on x [tokens, hidden]; bias is the router's selection bias."""
    names = ("gate", "routed_expert_down_proj", "shared_experts.gate_proj", "shared_experts.up_proj")
    logits, z, gate, up = ops.linear(x, *(w(f"{n}.weight") for n in names))
    ids, weights, scores = route(logits, bias, config)
    w1, w3, w2 = (w(f"experts.{n}.weight") for n in ("w1", "w3", "w2"))
    if quantised:
        w1, w3, w2 = (mxfp4.straight_through(m) for m in (w1, w3, w2))
    routed = experts(z, ids, weights, w1, w3, w2, config)
    routed = ops.rms_norm(routed, w("routed_expert_norm.weight"), config.norm_eps)
    routed = ops.linear(routed, w("routed_expert_up_proj.weight"))
    return routed + ops.linear(ops.glu(gate, up, config), w("shared_experts.down_proj.weight")), scores
