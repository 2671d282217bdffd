# SPDX-License-Identifier: Apache-2.0
"""Whether the golden prompts of a checkpoint feel each of its switches: flip one, and the logits must move."""

import dataclasses

import numpy as np

from . import deterministic_random
from .reference import config as config_module
from .reference import layers, ops
from .reference.model import Model

LIMIT = 2e-5  # a model under test may be this far off; a flipped switch must move the logits by more
PROMPT_TOKENS = 130


def _flips(c):
    """{label: Config fields to change}, only for switches this checkpoint has tensors and meaning for."""
    flips = {"norm eps": {"norm_eps": c.norm_eps * 10}}
    kda, moe = len(c.kda_layers) > 0, any(c.is_moe(i) for i in range(c.layers))
    if kda:
        flips["gate lower bound"] = {"gate_lower_bound": -5.0 if c.gate_lower_bound is None else None}
    if c.mla_output_gate and len(c.kda_layers) < c.layers:
        flips["mla output gate"] = {"mla_output_gate": False}
    if c.attn_res_block is not None:
        flips["attn_res off"] = {"attn_res_block": None}
        if c.attn_res_block < c.layers:
            flips["attn_res block"] = {"attn_res_block": c.attn_res_block + 1}
    flips["activation"] = {"activation": "silu" if c.activation == "situ" else "situ"}
    if c.activation == "situ":
        flips["situ beta"] = {"situ_beta": c.situ_beta * 2}
        flips["situ linear beta"] = {"situ_linear_beta": None if c.situ_linear_beta else 25.0}
    if moe:
        flips["router"] = {"router": "softmax" if c.router == "sigmoid" else "sigmoid"}
        flips["experts per token"] = {"experts_per_token": c.experts_per_token + 1}
        if c.latent is None or not c.latent_norm:  # the norm divides any common factor of the weights away
            flips["routed scale"] = {"routed_scale": c.routed_scale * 1.01}
            if c.experts_per_token > 1:
                flips["renormalise"] = {"renormalize": not c.renormalize}
        if c.groups > 1:
            flips["groups"] = {"groups": 1}
        if c.shared_experts:
            flips["shared experts"] = {"shared_experts": 0}
        if c.latent is not None and c.latent_norm:
            flips["latent norm"] = {"latent_norm": False}
    return flips


def _logits(model, ids):
    return model.logits(model.hidden(ids, model.new_state())[-1:])[0]


def _low_rank_eps(model, ids):
    """Logits with the config's eps in the low-rank norms, as several engines have it."""
    layers.LOW_RANK_NORM_EPS = 1e-5
    try:
        return _logits(model, ids)
    finally:
        layers.LOW_RANK_NORM_EPS = config_module.LOW_RANK_NORM_EPS


def _router_bias_in_weights(model, ids):
    """Logits when the correction bias also enters the weights."""
    original = ops.router

    def biased(x, gate, bias, config):
        chosen, _ = original(x, gate, bias, config)
        weights = np.take_along_axis(ops.sigmoid(x @ gate.T) + bias, chosen, axis=-1)
        return chosen, weights / weights.sum(axis=-1, keepdims=True) * config.routed_scale

    ops.router = biased
    try:
        return _logits(model, ids)
    finally:
        ops.router = original


def check_sensitivity(directory):
    """Labels of flips that move the last logits by less than LIMIT (relative rms); empty is good."""
    model = Model.load(directory)
    c = model.config
    ids = deterministic_random.integers(f"sensitivity {directory.name}", (PROMPT_TOKENS,), c.vocab)
    base = _logits(model, ids)
    changed = {}
    for label, fields in _flips(c).items():
        changed[label] = _logits(Model(dataclasses.replace(c, **fields), model._tensors), ids)
    other = ids.copy()
    other[0] = (other[0] + 1) % c.vocab
    changed["first token"] = _logits(model, other)
    if len(c.kda_layers) < c.layers:
        changed["low-rank eps"] = _low_rank_eps(model, ids)
    if any(c.is_moe(i) for i in range(c.layers)):
        changed["bias in weights"] = _router_bias_in_weights(model, ids)
    moved = {k: float(np.sqrt(((v - base) ** 2).mean() / (base**2).mean())) for k, v in changed.items()}
    return [f"{label} ({rms:.0e})" for label, rms in moved.items() if not rms > LIMIT]
