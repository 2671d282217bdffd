# SPDX-License-Identifier: Apache-2.0
"""Op and layer fixtures (JSON with weights, inputs, outputs) against tools.reference.ops and .layers."""

import dataclasses
import json

import numpy as np

from . import layers, mxfp4, ops
from .config import Config
from .model import Model

_BASE = Config(
    hidden=128, layers=13, vocab=256, norm_eps=1e-5, heads=4, q_lora_rank=64, kv_lora_rank=32, nope_dim=24, rope_dim=8,
    v_dim=16, mla_output_gate=True, kda_layers=(1, 2, 3, 5, 6, 7, 9, 10, 11), kda_heads=4, kda_dim=16, conv_width=4,
    gate_lower_bound=-5.0, full_rank_gate=True, attn_res_block=3, intermediate=96, activation="situ", situ_beta=4.0,
    situ_linear_beta=25.0, experts=8, experts_per_token=2, shared_experts=2, expert_width=48, latent=64,
    latent_norm=True, first_dense=1, moe_freq=1, router="sigmoid", renormalize=True, routed_scale=1.0, groups=1,
    topk_group=1, tied=False, prefix="",
)  # fmt: skip
# Fixture spelling -> checkpoint spelling of the MoE tensors.
_MOE_NAMES = {
    "e_score_correction_bias": "gate.e_score_correction_bias", "down_weight": "routed_expert_down_proj.weight",
    "up_weight": "routed_expert_up_proj.weight", "norm_weight": "routed_expert_norm.weight",
    "shared_w1_weight": "shared_experts.gate_proj.weight", "shared_w2_weight": "shared_experts.down_proj.weight",
    "shared_w3_weight": "shared_experts.up_proj.weight", "gate_weight": "gate.weight",
}  # fmt: skip


class Fixture:
    """One JSON file; fixture["x"] is an array with its recorded shape, or a plain value."""

    def __init__(self, path):
        self.values = json.loads(path.read_text())

    def __getitem__(self, name):
        value = self.values[name]
        return np.array(value["data"], np.float64).reshape(value["shape"]) if isinstance(value, dict) else value


def _error(found, expected):
    """Largest error in units of the fixtures' tolerance.

    The fixtures are float32 sums: an entry near 0 beside one of size M carries an error of some 2^-22 M of its own
    (moe: M = 178), which the fixtures' atol 1e-5 + rtol 1e-4 leaves out.
    """
    found = np.asarray(found).reshape(expected.shape)
    limit = 1e-5 + 1e-4 * np.abs(expected) + 2.0**-22 * np.abs(expected).max()
    return float((np.abs(found - expected) / limit).max())


def _small_ops(load):
    f = load("rmsnorm")
    yield "rmsnorm", _error(ops.rms_norm(f["in"], f["weight"], f["eps"]), f["out"])
    f = load("situ_glu")
    gate, up = np.split(f["in"], 2, axis=-1)
    yield "situ_glu", _error(ops.glu(gate, up, _BASE), f["out"])
    f = load("shortconv")
    kernel = f["weight"].reshape(64, 4)
    y, tail = ops.short_conv(f["in"].reshape(-1, 64), kernel, np.zeros((3, 64)))
    yield "shortconv", _error(y, f["out"])
    yield "shortconv next", _error(ops.short_conv(f["in_next"].reshape(-1, 64), kernel, tail)[0], f["out_next"])
    f = load("kda_decay")
    z = f["z"].reshape(-1, 4, 16)
    g = ops.kda_decay_log(z, f["A_log"], f["dt_bias"].reshape(4, 16), f["lower_bound"])
    yield "kda_decay", _error(g, f["g"])
    f = load("router")
    ids, weights = ops.router(f["in"].reshape(-1, 128), f["gate_weight"], f["bias"], _BASE)
    order, want = np.argsort(ids, axis=-1), np.argsort(f["topk_idx"], axis=-1)
    expected_ids = np.take_along_axis(f["topk_idx"], want, -1).astype(int)
    if not (np.take_along_axis(ids, order, -1) == expected_ids).all():
        raise AssertionError("router: selected experts differ")
    yield "router", _error(np.take_along_axis(weights, order, -1), np.take_along_axis(f["topk_weight"], want, -1))
    f = load("attnres")
    stream = f["prefix_sum"].reshape(-1, 128)
    blocks = list(f["block_residual"].reshape(len(stream), -1, 128).swapaxes(0, 1))
    yield "attnres", _error(ops.attn_res_mix(blocks, stream, f["norm_weight"], f["proj_weight"], f["eps"]), f["out"])


def _kda(load):
    for name in ("kda_recur1", "kda_recur8"):
        f, state = load(name), np.zeros((4, 16, 16))
        out = ops.kda_recurrence(f["q"] * f["q_scale"], f["k"], f["v"], f["alpha"], f["beta"], state)
        yield name, max(_error(out, f["out"]), _error(state, f["state_out"]))
    names = {"f_a_proj.weight": "f_a", "f_b_proj.weight": "f_b", "o_norm.weight": "o_norm"}
    for name in ("kda_layer1", "kda_layer8"):
        f, cache = load(name), layers.KdaState(_BASE)

        def w(key, f=f):
            return f[names.get(key, key.removesuffix(".weight").replace("conv1d", "conv"))]

        out = layers.kda(f["in"].reshape(-1, 128), w, _BASE, cache)
        yield name, max(_error(out, f["out"]), _error(cache.state, f["state_out"]))


def _moe_names(fixture, prefix):
    for key in fixture.values:
        if key.startswith(prefix) and isinstance(fixture.values[key], dict):
            short = key.removeprefix(prefix)
            if short.startswith("experts_"):
                yield key, "{}.{}.{}.{}".format(*short.split("_"))
            elif short in _MOE_NAMES:
                yield key, _MOE_NAMES[short]


def _whole_layers(load):
    f = load("mla")
    out = layers.mla(f["in"].reshape(-1, 128), lambda k: f[k.replace(".", "_")], _BASE, layers.MlaState(_BASE))
    yield "mla", _error(out, f["out"])
    f = load("moe")
    tensors = {name: f[key] for key, name in _moe_names(f, "")}
    yield "moe", _error(layers.moe(f["in"].reshape(-1, 128), tensors.__getitem__, _BASE), f["out"])
    for name in ("layer_kda", "layer_mla"):
        f = load(name)
        index, prefix = f["layer_idx"], f"model.layers.{f['layer_idx']}."
        tensors = {prefix + "block_sparse_moe." + n: f[k] for k, n in _moe_names(f, "mlp_")}
        for key, value in f.values.items():
            if key.startswith("self_attn_"):
                short = key.removeprefix("self_attn_")
                short = short.removesuffix("_weight") + ".weight" if short.endswith("_weight") else short
                tensors[prefix + "self_attn." + short] = f[key]
            elif key.endswith("norm_weight") or "_res_" in key:
                if isinstance(value, dict) and key != "block_residual_in":
                    tensors[prefix + key.removesuffix("_weight") + ".weight"] = f[key]
        model = Model(dataclasses.replace(_BASE), tensors)
        stream = f["in"].reshape(-1, 128)
        blocks = list(f["block_residual_in"].reshape(len(stream), -1, 128).swapaxes(0, 1))
        out = model._layer(index, stream, blocks, model.new_state()[index])
        after = np.stack(blocks, axis=1)
        yield name, max(_error(out, f["out"]), _error(after, f["block_residual_out"]))


def check_ops(fixtures):
    """Yields (fixture name, error in units of its tolerance)."""

    def load(name):
        return Fixture(fixtures / "ops" / f"{name}.json")

    yield from _small_ops(load)
    yield from _kda(load)
    yield from _whole_layers(load)
    f = Fixture(fixtures / "mxfp4.json")
    weights = mxfp4.dequantise(f["packed"].astype(np.uint8), f["scales"].astype(np.uint8))
    yield "mxfp4 (exact)", 0.0 if (weights == f["expected"]).all() else np.inf
