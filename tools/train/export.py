# SPDX-License-Identifier: Apache-2.0
"""Writes trained parameters as a checkpoint in the released layout, and reads one back.

python -m tools.train.export STATE --out DIR         STATE: a training directory or one of its checkpoints
"""

import argparse
import pathlib
import sys

import jax.numpy as jnp
import numpy as np

from ..checkpoint_writer import TensorSet, write_json
from ..reference import config as reference_config
from ..reference.model import Model

# Kept in float32, as in the released files.
_FLOAT32 = ("conv1d.weight", "A_log", "dt_bias", "o_norm.weight")


def tensors(params, biases, config):
    """The TensorSet of the checkpoint."""
    made, p = TensorSet(), config.prefix
    for name, value in params.items():
        value = np.asarray(value, np.float64)
        if ".experts." in name:
            head, matrix = name.split("experts.")
            for expert, one in enumerate(value):
                made.add(f"{p}{head}experts.{expert}.{matrix}", "MXFP4", one)
        elif name.startswith(("vision_tower.", "mm_projector.")):
            made.add(name, "BF16", value)
        else:
            made.add(p + name, "F32" if name.endswith(_FLOAT32) else "BF16", value)
    moe_layers = [i for i in range(config.layers) if config.is_moe(i)]
    for index, bias in zip(moe_layers, biases):
        made.add(
            f"{p}model.layers.{index}.block_sparse_moe.gate.e_score_correction_bias",
            "F32",
            np.asarray(bias, np.float64),
        )
    return made


def write(out, params, biases, config_value, tokenizer):
    """All files of a model directory."""
    out = pathlib.Path(out)
    tokenizer.save(out)
    config = reference_config.from_json(config_value)
    write_json(out / "config.json", config_value)
    longest = config_value["text_config"]["max_position_embeddings"]
    write_json(out / "generation_config.json", {"eos_token_id": config_value["eos_token_id"], "max_length": longest})
    tensors(params, biases, config).write_snapshot(out)


def read(directory):
    """(params, biases, config) of a checkpoint, float32; experts are already rounded."""
    model = Model.load(directory)
    c, made, experts = model.config, {}, {}
    for name in model._tensors:  # noqa: SLF001
        short = name.removeprefix(c.prefix).removesuffix("_packed").removesuffix("_scale")
        if ".experts." in short:
            head, rest = short.split("experts.")
            expert, matrix = rest.split(".", 1)
            experts.setdefault(f"{head}experts.{matrix}", {})[int(expert)] = short
        elif not short.endswith("e_score_correction_bias"):
            made[short] = model._tensors[name]  # noqa: SLF001
    for name, numbered in experts.items():
        made[name] = np.stack([model.weight(numbered[e]) for e in range(c.experts)])
    bias = "model.layers.{}.block_sparse_moe.gate.e_score_correction_bias"
    biases = [jnp.asarray(model.weight(bias.format(i)), jnp.float32) for i in range(c.layers) if c.is_moe(i)]
    return {n: jnp.asarray(v, jnp.float32) for n, v in made.items()}, biases, c


def main(arguments):
    from . import state

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("state", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    options = parser.parse_args(arguments)
    loaded = state.load(options.state)
    write(options.out, loaded.export_params(), loaded.export_biases(), loaded.config_value, loaded.tokenizer())
    size = sum(f.stat().st_size for f in options.out.iterdir())
    print(f"{options.out}: {size} bytes, {loaded.tokens} tokens of training")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
