# SPDX-License-Identifier: Apache-2.0
"""Element-wise functions, norms and mixing sites in JAX; the formulas are those of tools/reference/ops.py."""

import jax
import jax.numpy as jnp


@jax.custom_vjp
def held(y):
    """y, whose gradient is stored before it is used.

    Put around products: XLA's CPU compiler would otherwise fuse the computation of the gradient with the transposition
    that the weights' gradient needs, and walk through memory in strides (a KDA layer took 1.5 times as long).
    """
    return y


held.defvjp(lambda y: (y, None), lambda _, dy: (jax.lax.optimization_barrier(dy),))


def linear(x, *weights):
    """Products of x with each weight [out, in], computed as one."""
    joined = jnp.concatenate(weights) if len(weights) > 1 else weights[0]
    y = held(x @ joined.T)
    if len(weights) == 1:
        return y
    edges = [sum(len(w) for w in weights[:i]) for i in range(1, len(weights))]
    return jnp.split(y, edges, axis=-1)


def rms_norm(x, weight, eps):
    return x * jax.lax.rsqrt((x * x).mean(axis=-1, keepdims=True) + eps) * weight


def l2_normalize(x, eps):
    return x * jax.lax.rsqrt((x * x).sum(axis=-1, keepdims=True) + eps)


def glu(gate, up, config):
    """SiTU: both branches capped by tanh, the sigmoid takes the uncapped gate; or SiLU."""
    if config.activation == "silu":
        return jax.nn.silu(gate) * up
    beta, linear_beta = config.situ_beta, config.situ_linear_beta
    if linear_beta is not None:
        up = linear_beta * jnp.tanh(up / linear_beta)
    return beta * jnp.tanh(gate / beta) * jax.nn.sigmoid(gate) * up


def attn_res_mix(blocks, stream, norm_weight, proj_weight, eps):
    """Softmax-weighted sum of the raw saved blocks and the stream, scored by their normed dot with the query."""
    sources = [*blocks, stream]
    query = norm_weight * proj_weight.reshape(-1)
    scores = [(s @ query) * jax.lax.rsqrt((s * s).mean(axis=-1) + eps) for s in sources]
    weights = jax.nn.softmax(jnp.stack(scores), axis=0)
    return sum(w[..., None] * s for w, s in zip(weights, sources))


def short_conv(x, kernel, segments):
    """Causal depthwise convolution within each document, and SiLU. x [rows, length, channels], kernel [channels, width]."""
    width, length = kernel.shape[1], x.shape[1]
    y = x * kernel[:, width - 1]
    for back in range(1, width):
        shifted = jnp.pad(x, ((0, 0), (back, 0), (0, 0)))[:, :length]
        same = segments == jnp.pad(segments, ((0, 0), (back, 0)), constant_values=-2)[:, :length]
        y = y + shifted * kernel[:, width - 1 - back] * same[..., None]
    return jax.nn.silu(y)
