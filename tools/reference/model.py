# SPDX-License-Identifier: Apache-2.0
"""The whole text model: weights, per-sequence state, forward pass and greedy continuation."""

import numpy as np

from . import config as config_module
from . import layers, mxfp4, ops
from .safetensors_file import read_snapshot


class Model:
    """Weights of one snapshot in float64, with those of a LoRA adapter merged in if there is one."""

    def __init__(self, config, tensors, adapter=None):
        self.config = config
        self._tensors = tensors
        if adapter is not None:
            self._tensors = {name: adapter.merged(name, value) for name, value in tensors.items()}
        self._decoded = {}

    @classmethod
    def load(cls, directory, adapter=None):
        return cls(config_module.load(directory), read_snapshot(directory), adapter)

    def weight(self, name):
        """The float64 array of a tensor; a missing `X.weight` is decoded from `X.weight_packed`/`X.weight_scale`."""
        name = self.config.prefix + name
        if name in self._tensors:
            return self._tensors[name]
        if name not in self._decoded:
            if name + "_packed" not in self._tensors:
                raise KeyError(f"{name}: expected in the snapshot, found neither it nor its packed form")
            self._decoded[name] = mxfp4.dequantise(self._tensors[name + "_packed"], self._tensors[name + "_scale"])
        return self._decoded[name]

    def new_state(self):
        c = self.config
        return [layers.KdaState(c) if c.is_kda(i) else layers.MlaState(c) for i in range(c.layers)]

    def hidden(self, ids, state):
        """Final normed hidden states [tokens, hidden] of ids appended to state (what lm_head multiplies)."""
        c = self.config
        ids = np.asarray(ids)
        if len(ids) == 0 or ids.min() < 0 or ids.max() >= c.vocab:
            raise ValueError(f"ids: expected one or more in [0, {c.vocab}), found {ids.tolist()}")
        stream, blocks = self.weight("model.embed_tokens.weight")[ids], []
        for index in range(c.layers):
            stream = self._layer(index, stream, blocks, state[index])
        if c.attn_res_block is not None:
            stream = self._mix(stream, blocks, "model.output_attn_res")
        return ops.rms_norm(stream, self.weight("model.norm.weight"), c.norm_eps)

    def logits(self, hidden):
        head = "model.embed_tokens.weight" if self.config.tied else "lm_head.weight"
        return hidden @ self.weight(head).T

    def _mix(self, stream, blocks, site):
        norm, proj = self.weight(site + "_norm.weight"), self.weight(site + "_proj.weight")
        return ops.attn_res_mix(blocks, stream, norm, proj, self.config.norm_eps)

    def _layer(self, index, stream, blocks, cache):
        c, prefix = self.config, f"model.layers.{index}."
        attention = layers.kda if c.is_kda(index) else layers.mla
        opens_block = c.attn_res_block is not None and index % c.attn_res_block == 0
        mixed = self._mix(stream, blocks, prefix + "self_attention_res") if blocks else stream
        if opens_block:
            blocks.append(stream)
        normed = ops.rms_norm(mixed, self.weight(prefix + "input_layernorm.weight"), c.norm_eps)
        y = attention(normed, lambda name: self.weight(prefix + "self_attn." + name), c, cache)
        stream = y if opens_block else stream + y
        mixed = self._mix(stream, blocks, prefix + "mlp_res") if blocks else stream
        normed = ops.rms_norm(mixed, self.weight(prefix + "post_attention_layernorm.weight"), c.norm_eps)
        if c.is_moe(index):
            return stream + layers.moe(normed, lambda name: self.weight(prefix + "block_sparse_moe." + name), c)
        return stream + layers.dense_mlp(normed, lambda name: self.weight(prefix + "mlp." + name), c, "")

    def greedy(self, ids, count):
        """(logits after ids, count greedy ids, gap between the two best logits before each of them)."""
        state = self.new_state()
        last = first = self.logits(self.hidden(ids, state)[-1:])[0]
        chosen, margins = [], []
        for step in range(count):
            best = np.sort(last)[-2:]
            chosen.append(int(np.argmax(last)))
            margins.append(float(best[1] - best[0]))
            if step + 1 < count:
                last = self.logits(self.hidden(chosen[-1:], state)[-1:])[0]
        return first, chosen, margins
