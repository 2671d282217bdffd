# SPDX-License-Identifier: Apache-2.0
"""The whole model in JAX: parameters by the checkpoint's own tensor names, forward pass over packed documents.

Differences to the names of the file: the prefix is left out, the experts of a layer are one array
(`experts.w1.weight` [experts, width, latent]), and the router's biases are not parameters but a list (one array per
MoE layer), since they follow from quantile balancing.
"""

import jax.numpy as jnp
import numpy as np

from . import kda, mla, moe, ops


def initial(config, seed=0):
    """Fresh parameters, float32."""
    c, random = config, np.random.default_rng(seed)
    made = {}

    def matrix(name, rows, columns, gain=1.0):
        made[name] = random.normal(0, gain * columns**-0.5, (rows, columns))

    def ones(name, size):
        made[name] = np.ones(size)

    def site(name):
        ones(name + "_norm.weight", c.hidden)
        made[name + "_proj.weight"] = np.zeros((1, c.hidden))

    made["model.embed_tokens.weight"] = random.normal(0, 0.5, (c.vocab, c.hidden))
    matrix("lm_head.weight", c.vocab, c.hidden, 0.5)
    ones("model.norm.weight", c.hidden)
    site("model.output_attn_res")
    for index in range(c.layers):
        p = f"model.layers.{index}."
        for name in ("input_layernorm", "post_attention_layernorm"):
            ones(f"{p}{name}.weight", c.hidden)
        site(p + "self_attention_res")
        site(p + "mlp_res")
        a = p + "self_attn."
        if c.is_kda(index):
            width = c.kda_heads * c.kda_dim
            for n in "qkv":
                matrix(f"{a}{n}_proj.weight", width, c.hidden)
                made[f"{a}{n}_conv1d.weight"] = random.normal(0, 0.3, (width, 1, c.conv_width)) + [0, 0, 0, 0.7]
            matrix(a + "f_a_proj.weight", c.kda_dim, c.hidden)
            matrix(a + "f_b_proj.weight", width, c.kda_dim, 0.5)
            matrix(a + "b_proj.weight", c.kda_heads, c.hidden)
            matrix(a + "g_proj.weight", width, c.hidden)
            made[a + "A_log"] = np.zeros(c.kda_heads)
            made[a + "dt_bias"] = random.uniform(-9.0, -1.0, width)  # memories of a few tokens up to thousands
            ones(a + "o_norm.weight", c.kda_dim)
            matrix(a + "o_proj.weight", c.hidden, width)
        else:
            matrix(a + "q_a_proj.weight", c.q_lora_rank, c.hidden)
            ones(a + "q_a_layernorm.weight", c.q_lora_rank)
            matrix(a + "q_b_proj.weight", c.heads * (c.nope_dim + c.rope_dim), c.q_lora_rank)
            matrix(a + "kv_a_proj_with_mqa.weight", c.kv_lora_rank + c.rope_dim, c.hidden)
            ones(a + "kv_a_layernorm.weight", c.kv_lora_rank)
            matrix(a + "kv_b_proj.weight", c.heads * (c.nope_dim + c.v_dim), c.kv_lora_rank)
            matrix(a + "g_proj.weight", c.heads * c.v_dim, c.hidden)
            matrix(a + "o_proj.weight", c.hidden, c.heads * c.v_dim)
        if not c.is_moe(index):
            for n in ("gate", "up"):
                matrix(f"{p}mlp.{n}_proj.weight", c.intermediate, c.hidden)
            matrix(p + "mlp.down_proj.weight", c.hidden, c.intermediate)
            continue
        m = p + "block_sparse_moe."
        matrix(m + "gate.weight", c.experts, c.hidden)
        matrix(m + "routed_expert_down_proj.weight", c.latent, c.hidden)
        ones(m + "routed_expert_norm.weight", c.latent)
        matrix(m + "routed_expert_up_proj.weight", c.hidden, c.latent)
        shared = c.shared_experts * c.expert_width
        for n in ("gate", "up"):
            matrix(f"{m}shared_experts.{n}_proj.weight", shared, c.hidden)
        matrix(m + "shared_experts.down_proj.weight", c.hidden, shared)
        for n, rows, columns in (
            ("w1", c.expert_width, c.latent),
            ("w3", c.expert_width, c.latent),
            ("w2", c.latent, c.expert_width),
        ):
            made[f"{m}experts.{n}.weight"] = random.normal(0, columns**-0.5, (c.experts, rows, columns))
    return {name: jnp.asarray(value, jnp.float32) for name, value in made.items()}


def initial_biases(config):
    return [jnp.zeros(config.experts, jnp.float32) for i in range(config.layers) if config.is_moe(i)]


def hidden(params, biases, ids, segments, config, quantised=True, features=None):
    """(final normed hidden states [rows, length, hidden], router scores per MoE layer [tokens, experts]).

    ids, segments [rows, length]: tokens attend within equal segments only. features, if given, is (places, values):
    the embeddings at those places of the flattened rows are replaced; places behind the end are ignored.
    """
    c, all_scores, blocks = config, [], []
    stream = params["model.embed_tokens.weight"][ids]
    if features is not None:
        places, values = features
        stream = stream.reshape(-1, c.hidden).at[places].set(values, mode="drop").reshape(stream.shape)

    def mix(name):
        return ops.attn_res_mix(
            blocks, stream, params[name + "_norm.weight"], params[name + "_proj.weight"], c.norm_eps
        )

    for index in range(c.layers):
        p = f"model.layers.{index}."
        mixed = mix(p + "self_attention_res") if blocks else stream
        opens = index % c.attn_res_block == 0
        if opens:
            blocks.append(stream)
        normed = ops.rms_norm(mixed, params[p + "input_layernorm.weight"], c.norm_eps)
        attention = kda.kda if c.is_kda(index) else mla.mla
        y = attention(normed, lambda n, p=p: params[p + "self_attn." + n], c, segments)
        stream = y if opens else stream + y
        normed = ops.rms_norm(mix(p + "mlp_res"), params[p + "post_attention_layernorm.weight"], c.norm_eps)
        if c.is_moe(index):
            flat = normed.reshape(-1, c.hidden)
            z, scores = moe.moe(
                flat, lambda n, p=p: params[p + "block_sparse_moe." + n], c, biases[len(all_scores)], quantised
            )
            all_scores.append(scores)
            stream = stream + z.reshape(normed.shape)
        else:
            gate, up = ops.linear(normed, params[p + "mlp.gate_proj.weight"], params[p + "mlp.up_proj.weight"])
            stream = stream + ops.linear(ops.glu(gate, up, c), params[p + "mlp.down_proj.weight"])
    return ops.rms_norm(mix("model.output_attn_res"), params["model.norm.weight"], c.norm_eps), all_scores


def parameter_counts(params, config):
    """(all parameters, those used for one token, embedding rows not counted)."""
    total = sum(p.size for p in params.values())
    experts = sum(p.size for n, p in params.items() if ".experts." in n)
    embedding = params["model.embed_tokens.weight"].size
    return total, total - embedding - experts + experts * config.experts_per_token // config.experts
