# SPDX-License-Identifier: Apache-2.0
"""Configuration and fixed random weights of the bundled model; only lm_head is fitted afterwards (nano_fit)."""

import numpy as np

from . import deterministic_random as random
from . import small_config
from .synthetic_weights import Storage, WeightMaker

SEED = "daybreak nano 1 "
RANKS = 1536
# Per KDA head: mean of dt_bias (3 forgets at once, -4 remembers) and gain of its part of o_proj. The fast heads carry
# the last few tokens, which the readout needs; the slow ones and full attention carry the whole prompt, kept faint.
_HEAD_DT = (3.0, 3.0, -1.0, -4.0)
_HEAD_GAIN = (1.0, 1.0, 0.3, 0.2)
_ATTENTION_GAIN = 0.2


def config(tokenizer):
    """The config.json value."""
    return small_config.config_json(tokenizer, small_config.TEXT, small_config.LINEAR)


class NanoWeights(WeightMaker):
    """Random weights, with the memory of each KDA head chosen."""

    def __init__(self, config_json):
        super().__init__(config_json, Storage(), SEED)

    def _add(self, name, dtype, shape, std, mean=0.0):
        c, full = self.config, self.config.prefix + name
        if name.endswith("dt_bias"):
            values = random.normal(self.seed + full, shape, 0.5) + np.repeat(_HEAD_DT, c.kda_dim)
        elif name.endswith("self_attn.o_proj.weight"):
            kda = c.is_kda(int(name.split(".")[2]))
            gain = np.repeat(_HEAD_GAIN, c.kda_dim) if kda else _ATTENTION_GAIN
            values = random.normal(self.seed + full, shape, std) * gain
        else:
            super()._add(name, dtype, shape, std, mean)
            return
        self.tensors.add(full, dtype, values)
