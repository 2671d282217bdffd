# SPDX-License-Identifier: Apache-2.0
"""The vision tower and projector in JAX, for pictures of one size at a time."""

import jax
import jax.numpy as jnp
import numpy as np

from . import ops

NORM_EPS = 1.1920929e-07  # of the tower's norms: float32's epsilon, the class default of the released code
ROPE_BASE = 10000.0


def initial(v, hidden, seed=0):
    """Fresh parameters for a vision_config value."""
    random, made = np.random.default_rng(seed + 77), {}
    wide, merged = v["vt_hidden_size"], v["mm_hidden_size"] * 4

    def matrix(name, *shape):
        made[name] = random.normal(0, np.prod(shape[1:]) ** -0.5, shape)

    matrix("vision_tower.patch_embed.proj.weight", wide, 3, v["patch_size"], v["patch_size"])
    made["vision_tower.patch_embed.pos_emb.weight"] = random.normal(
        0, 0.1, (v["init_pos_emb_height"], v["init_pos_emb_width"], wide)
    )
    for block in range(v["vt_num_hidden_layers"]):
        p = f"vision_tower.encoder.blocks.{block}."
        made[p + "norm0.weight"], made[p + "norm1.weight"] = np.ones(wide), np.ones(wide)
        matrix(p + "wqkv.weight", 3 * v["qkv_hidden_size"], wide)
        matrix(p + "wo.weight", wide, v["qkv_hidden_size"])
        matrix(p + "mlp.fc0.weight", v["vt_intermediate_size"], wide)
        matrix(p + "mlp.fc1.weight", wide, v["vt_intermediate_size"])
    made["vision_tower.encoder.final_layernorm.weight"] = np.ones(wide)
    matrix("mm_projector.proj.0.weight", merged, merged)
    matrix("mm_projector.proj.2.weight", hidden, merged)
    made["mm_projector.post_norm.weight"] = np.ones(hidden)
    return {name: jnp.asarray(value, jnp.float32) for name, value in made.items()}


def patches(image, size):
    """float32 [rows * columns, 3 * size * size] of a uint8 picture [height, width, 3], padded with black to whole cells."""
    cell = 2 * size
    height, width = (-(-n // cell) * cell for n in image.shape[:2])
    whole = np.zeros((height, width, 3), np.float32)
    whole[: image.shape[0], : image.shape[1]] = image
    x = (whole / 255 - 0.5) / 0.5
    x = x.reshape(height // size, size, width // size, size, 3).transpose(0, 2, 4, 1, 3)
    return x.reshape(-1, 3 * size * size).astype(np.float32)


def _axis_weights(stored, wanted):
    """[wanted, stored] bilinear interpolation along one axis, pixel centres at halves."""
    made = np.zeros((wanted, stored))
    for i in range(wanted):
        source = max(0.0, (i + 0.5) * stored / wanted - 0.5)
        low = min(int(source), stored - 1)
        made[i, low] += 1 - (source - low)
        made[i, min(low + 1, stored - 1)] += source - low
    return jnp.asarray(made, jnp.float32)


def _rotations(rows, columns, dim):
    """(cos, sin) [rows * columns, dim / 2]: even pairs turn by the column, odd ones by the row."""
    rates = ROPE_BASE ** (-4.0 * np.arange(dim // 4) / dim)
    row, column = (x.reshape(-1, 1) for x in np.mgrid[0:rows, 0:columns])
    angles = np.stack([column * rates, row * rates], axis=-1).reshape(rows * columns, -1)
    return jnp.asarray(np.cos(angles), jnp.float32), jnp.asarray(np.sin(angles), jnp.float32)


def _rotated(x, rotations):
    """x [pictures, patches, heads, dim] with neighbouring pairs turned."""
    cos, sin = (r[None, :, None] for r in rotations)
    pairs = x.reshape(*x.shape[:-1], -1, 2)
    a, b = pairs[..., 0], pairs[..., 1]
    return jnp.stack([a * cos - b * sin, a * sin + b * cos], axis=-1).reshape(x.shape)


def features(params, v, pixels, rows, columns):
    """[pictures, rows * columns / 4, hidden] of pixels [pictures, rows * columns, 3 * patch * patch]."""

    def w(name):
        return params["vision_tower." + name]

    x = pixels @ w("patch_embed.proj.weight").reshape(v["vt_hidden_size"], -1).T
    stored = w("patch_embed.pos_emb.weight")
    down, across = _axis_weights(stored.shape[0], rows), _axis_weights(stored.shape[1], columns)
    x = x + jnp.einsum("ri,cj,ijd->rcd", down, across, stored).reshape(1, rows * columns, -1)
    heads = v["vt_num_attention_heads"]
    dim = v["qkv_hidden_size"] // heads
    rotations = _rotations(rows, columns, dim)
    for block in range(v["vt_num_hidden_layers"]):
        p = f"encoder.blocks.{block}."
        qkv = ops.rms_norm(x, w(p + "norm0.weight"), NORM_EPS) @ w(p + "wqkv.weight").T
        q, k, value = jnp.moveaxis(qkv.reshape(*x.shape[:2], 3, heads, dim), 2, 0)
        scores = jnp.einsum("bthd,bshd->bhts", _rotated(q, rotations), _rotated(k, rotations)) * dim**-0.5
        out = jnp.einsum("bhts,bshd->bthd", jax.nn.softmax(scores, axis=-1), value)
        x = x + out.reshape(*x.shape[:2], -1) @ w(p + "wo.weight").T
        inner = ops.rms_norm(x, w(p + "norm1.weight"), NORM_EPS) @ w(p + "mlp.fc0.weight").T
        x = x + jax.nn.gelu(inner, approximate=True) @ w(p + "mlp.fc1.weight").T
    x = ops.rms_norm(x, w("encoder.final_layernorm.weight"), NORM_EPS)
    cells = x.reshape(len(x), rows // 2, 2, columns // 2, 2, -1).transpose(0, 1, 3, 2, 4, 5)
    cells = cells.reshape(len(x), rows * columns // 4, -1)
    y = (
        jax.nn.gelu(cells @ params["mm_projector.proj.0.weight"].T, approximate=False)
        @ params["mm_projector.proj.2.weight"].T
    )
    return ops.rms_norm(y, params["mm_projector.post_norm.weight"], v["projector_ln_eps"])
