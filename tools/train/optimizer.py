# SPDX-License-Identifier: Apache-2.0
"""Muon for the matrices inside the network, AdamW for embeddings, the head, the router and all vectors."""

import collections

import jax.numpy as jnp

MOMENTUM, BETAS, EPS = 0.95, (0.9, 0.98), 1e-8
# Makes a Muon update about as large as an AdamW one, so that both share a learning rate.
MUON_SCALE = 0.2
_NEWTON_SCHULZ = (3.4445, -4.7750, 2.0315)
_ADAM_NAMES = ("embed_tokens", "lm_head", "gate.weight", "conv1d", "patch_embed", "_res_proj", "b_proj")


def is_muon(name, value):
    return value.ndim >= 2 and not any(part in name for part in _ADAM_NAMES)


def initial(params):
    """First moments of all, second moments of those under AdamW."""
    return {
        "first": {n: jnp.zeros_like(p) for n, p in params.items()},
        "second": {n: jnp.zeros_like(p) for n, p in params.items() if not is_muon(n, p)},
    }


def _orthogonalised(x):
    """About U V^T of x = U S V^T, for a batch of matrices [..., rows, columns]."""
    tall = x.shape[-2] > x.shape[-1]
    if tall:
        x = jnp.swapaxes(x, -1, -2)
    x = x / (jnp.sqrt((x * x).sum(axis=(-2, -1), keepdims=True)) + 1e-7)
    a, b, c = _NEWTON_SCHULZ
    for _ in range(5):
        s = x @ jnp.swapaxes(x, -1, -2)
        x = a * x + (b * s + c * (s @ s)) @ x
    return jnp.swapaxes(x, -1, -2) if tall else x


def _muon_updates(first, grads, names):
    """Updates by name; matrices of one shape are orthogonalised together."""
    groups = collections.defaultdict(list)
    for name in names:
        groups[grads[name].shape[-2:]].append(name)
    made = {}
    for shape, members in sorted(groups.items()):
        nesterov = [(grads[n] + MOMENTUM * first[n]).reshape(-1, *shape) for n in members]
        done = _orthogonalised(jnp.concatenate(nesterov)) * (MUON_SCALE * max(shape) ** 0.5)
        start = 0
        for name, one in zip(members, nesterov):
            made[name] = done[start : start + len(one)].reshape(grads[name].shape)
            start += len(one)
    return made


def update(params, grads, moments, step, rate, decay):
    """(params, moments) after one step; decay is the weight decay per unit of learning rate."""
    muon = [n for n in params if is_muon(n, params[n])]
    first, second, made = {}, {}, {}
    for name in muon:
        first[name] = MOMENTUM * moments["first"][name] + grads[name]
    made.update(_muon_updates(first, grads, muon))
    b1, b2 = BETAS
    for name in moments["second"]:
        g = grads[name]
        first[name] = b1 * moments["first"][name] + (1 - b1) * g
        second[name] = b2 * moments["second"][name] + (1 - b2) * g * g
        corrected = second[name] / (1 - b2**step)
        made[name] = first[name] / (1 - b1**step) / (jnp.sqrt(corrected) + EPS)
    new = {}
    for name, p in params.items():
        shrink = 1 - rate * decay if p.ndim >= 2 and "conv1d" not in name else 1.0
        new[name] = p * shrink - rate * made[name]
    return new, {"first": first, "second": second}
