# SPDX-License-Identifier: Apache-2.0
"""One training step: loss on the learnt tokens, gradients, update, router biases, running averages."""

import functools
import math

import jax
import jax.numpy as jnp

from . import model, moe, ops, optimizer, vision
from .data_stream import SKILLS

CLIP = 1.0
WEIGHT_DECAY = 0.05
BIAS_RATE = 0.1  # of the fresh quantile in the bias in use
BIAS_TOKENS = 2048  # of a batch that the quantile is estimated on
Z_LOSS = 1e-4


def _features(params, batch, vision_config):
    """What stands for the pictures of a batch; None if it has none."""
    if not len(batch.pixels):
        return None
    side = math.isqrt(batch.pixels.shape[1])
    values = vision.features(params, vision_config, batch.pixels, side, side)
    return batch.pads, values.reshape(len(batch.pads), -1)


def _loss(params, biases, batch, config, vision_config):
    features = _features(params, batch, vision_config)
    states, scores = model.hidden(params, biases, batch.ids, batch.segments, config, features=features)
    picked = states.reshape(-1, config.hidden)[batch.places]
    logits = ops.linear(picked, params["lm_head.weight"])
    total = jax.nn.logsumexp(logits, axis=-1)
    nll = total - jnp.take_along_axis(logits, batch.targets[:, None], axis=-1)[:, 0]
    right = (logits.argmax(axis=-1) == batch.targets) * batch.weights
    chosen = jax.nn.one_hot(batch.skills, len(SKILLS)) * batch.weights[:, None]
    count = batch.weights.sum()
    report = {"loss": nll @ chosen, "right": right @ chosen, "count": chosen.sum(axis=0)}
    objective = ((nll + Z_LOSS * total**2) * batch.weights).sum() / count
    return objective, (report, scores)


def _balanced(biases, scores, segments, k):
    stride = segments.size // BIAS_TOKENS
    counted = segments.reshape(-1)[::stride] >= 0
    fresh = [moe.balanced_bias(s[::stride], b, counted, k) for s, b in zip(scores, biases)]
    return [(1 - BIAS_RATE) * b + BIAS_RATE * f for b, f in zip(biases, fresh)]


def _loads(scores, biases, k):
    """Largest share of the pairs that one expert of a layer gets, times the number of experts; per layer."""
    made = []
    for s, b in zip(scores, biases):
        _, ids = jax.lax.top_k(s + b, k)
        made.append(jax.nn.one_hot(ids, s.shape[1]).mean(axis=(0, 1)).max() * s.shape[1])
    return jnp.stack(made)


def take(training, batch, rate, config, vision_config):
    """(training state, report). training has params, moments, biases, average, average_biases, step, and warm_from: the
    step at which the moments were empty, since a checkpoint without them can be gone on from."""
    grads, (report, scores) = jax.grad(_loss, has_aux=True)(
        training["params"], training["biases"], batch, config, vision_config
    )
    norm = jnp.sqrt(sum((g * g).sum() for g in grads.values()))
    grads = {n: g * jnp.minimum(1.0, CLIP / (norm + 1e-9)) for n, g in grads.items()}
    step = training["step"] + 1
    age = (step - training["warm_from"]).astype(jnp.float32)
    params, moments = optimizer.update(training["params"], grads, training["moments"], age, rate, WEIGHT_DECAY)
    biases = _balanced(training["biases"], scores, batch.segments, config.experts_per_token)
    keep = jnp.minimum(0.999, step / (step + 10.0))
    average = {n: keep * a + (1 - keep) * params[n] for n, a in training["average"].items()}
    average_biases = [keep * a + (1 - keep) * b for a, b in zip(training["average_biases"], biases)]
    report = {**report, "norm": norm, "load": _loads(scores, training["biases"], config.experts_per_token)}
    made = {
        "params": params, "moments": moments, "biases": biases, "average": average, "average_biases": average_biases, "step": step,
        "warm_from": training["warm_from"],
    }  # fmt: skip
    return made, report


def compiled(config, vision_config=None):
    """take() for one config, compiled anew for each batch shape."""
    return jax.jit(functools.partial(take, config=config, vision_config=vision_config), donate_argnums=0)


def initial(params, biases):
    return {
        "params": params, "moments": optimizer.initial(params), "biases": biases,
        "average": {n: p.copy() for n, p in params.items()}, "average_biases": [b.copy() for b in biases], "step": jnp.zeros((), jnp.int32),
        "warm_from": jnp.zeros((), jnp.int32),
    }  # fmt: skip
