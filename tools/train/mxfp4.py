# SPDX-License-Identifier: Apache-2.0
"""MXFP4 of expert weights during training: rounded forward, straight through backward."""

import jax
import jax.numpy as jnp

GROUP = 32


def rounded(w):
    """The values that checkpoint_writer.quantise_mxfp4 stores for w [..., columns]."""
    groups = w.reshape(*w.shape[:-1], -1, GROUP)
    _, exponent = jnp.frexp(jnp.abs(groups).max(axis=-1, keepdims=True))
    scale = jnp.ldexp(1.0, jnp.clip(exponent - 3, -126, 127))
    x = jnp.abs(groups) / scale
    # Steps of the E2M1 grid: 0.5 up to 2, 1 up to 4, then 2; ties go to the even code, as rounding does.
    step = jnp.where(x < 2, 0.5, jnp.where(x < 4, 1.0, 2.0))
    x = jnp.minimum(jnp.round(x / step) * step, 6.0)
    return (jnp.sign(groups) * x * scale).reshape(w.shape)


def straight_through(w):
    return w + jax.lax.stop_gradient(rounded(w) - w)
