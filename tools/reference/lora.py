# SPDX-License-Identifier: Apache-2.0
"""LoRA adapters in PEFT's layout, in float64: merged into the weights, W + scale B A, as PEFT merges them."""

import json
import math
import pathlib
import re

from .safetensors_file import read_file

ROOT = "base_model.model."
OPTIONAL = "language_model."


def of_pattern(patterns, path, otherwise):
    """PEFT's rule: the first key that is, as a regular expression, the end of the module's path."""
    for key, value in patterns.items():
        if re.match(rf"(.*\.)?({key})$", path):
            return value
    return otherwise


class Adapter:
    def __init__(self, config, tensors):
        self._config, self._tensors = config, tensors

    @classmethod
    def load(cls, directory):
        directory = pathlib.Path(directory)
        config = json.loads((directory / "adapter_config.json").read_text())
        return cls(config, read_file(directory / "adapter_model.safetensors"))

    def scale(self, path):
        c = self._config
        rank = of_pattern(c.get("rank_pattern") or {}, path, c["r"])
        alpha = of_pattern(c.get("alpha_pattern") or {}, path, c["lora_alpha"])
        return alpha / (math.sqrt(rank) if c.get("use_rslora") else rank)

    def merged(self, name, weight):
        """`weight`, the tensor `name` of the checkpoint, with what the adapter adds to it."""
        plain = name.removeprefix(OPTIONAL).removesuffix(".weight")
        for path in (plain, OPTIONAL + plain):
            a = self._tensors.get(ROOT + path + ".lora_A.weight")
            if a is not None:
                return weight + self.scale(path) * (self._tensors[ROOT + path + ".lora_B.weight"] @ a)
        return weight
