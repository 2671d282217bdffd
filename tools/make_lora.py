# SPDX-License-Identifier: Apache-2.0
"""Writes the LoRA adapters of testdata/lora and what the reference says with them, golden/lora/NAME.json.

    python -m tools.make_lora [--out DIR] [--golden DIR] [NAME ...]
"""

import argparse
import pathlib
import re
import sys

from . import deterministic_random
from .checkpoint_writer import TensorSet, write_json
from .reference import golden, lora
from .reference.model import Model
from .reference.safetensors_file import read_snapshot

ROOT = pathlib.Path(__file__).resolve().parent.parent
LENGTHS = (1, 17, 70)

# The linear modules that take adapters.
MODULES = re.compile(
    r"(self_attn\.\w+_proj(_with_mqa)?|mlp\.\w+_proj|block_sparse_moe\.shared_experts\.\w+_proj)\.weight$"
)

# checkpoint; storage type; whether names have "language_model."; what differs from PEFT's defaults.
ADAPTERS = {
    "k3-patterns": (
        "k3-all-on",
        "BF16",
        True,
        {
            "r": 4,
            "lora_alpha": 6,
            "rank_pattern": {"q_proj": 3, "layers.0.self_attn.k_proj": 2, "shared_experts.down_proj": 7},
            "alpha_pattern": {"kv_b_proj": 9.5, "language_model.model.layers.3.self_attn.o_proj": 2},
        },
    ),
    "k3-attention": (
        "k3-all-on",
        "F32",
        False,
        {"r": 64, "lora_alpha": 32, "only": r"self_attn\.(q|v|q_b|kv_b)_proj\.weight$"},
    ),
    "low-rank-rslora": ("softplus-low-rank", "F32", False, {"r": 5, "lora_alpha": 4, "use_rslora": True}),
    "kimi": ("kimi-linear", "F16", False, {"r": 8, "lora_alpha": 8}),
    "odd": ("odd-sizes", "BF16", True, {"r": 1, "lora_alpha": 1}),
}


def _config(settings, modules):
    """As PEFT writes it, with the keys that have no part in the computation too."""
    config = {
        "alora_invocation_tokens": None,
        "alpha_pattern": {},
        "auto_mapping": None,
        "base_model_name_or_path": "moonshotai/Kimi-K3",
        "bias": "none",
        "corda_config": None,
        "ensure_weight_tying": False,
        "eva_config": None,
        "exclude_modules": None,
        "fan_in_fan_out": False,
        "inference_mode": True,
        "init_lora_weights": True,
        "layer_replication": None,
        "layers_pattern": None,
        "layers_to_transform": None,
        "loftq_config": {},
        "lora_bias": False,
        "lora_dropout": 0.0,
        "megatron_config": None,
        "megatron_core": "megatron.core",
        "modules_to_save": None,
        "peft_type": "LORA",
        "peft_version": "0.18.0",
        "qalora_group_size": 16,
        "rank_pattern": {},
        "revision": None,
        "target_modules": sorted({path.rsplit(".", 1)[1] for path in modules}),
        "target_parameters": None,
        "task_type": "CAUSAL_LM",
        "trainable_token_indices": None,
        "use_dora": False,
        "use_qalora": False,
        "use_rslora": False,
    }
    return config | {key: value for key, value in settings.items() if key != "only"}


def make_adapter(name, out):
    """Writes out/name."""
    checkpoint, dtype, prefixed, settings = ADAPTERS[name]
    weights = read_snapshot(ROOT / "testdata" / "checkpoints" / checkpoint)
    only = re.compile(settings.get("only", ""))
    modules = {
        (lora.OPTIONAL if prefixed else "") + key.removeprefix(lora.OPTIONAL).removesuffix(".weight"): value.shape
        for key, value in weights.items()
        if MODULES.search(key) and only.search(key)
    }
    config, tensors = _config(settings, modules), TensorSet()
    ranks = lora.Adapter(dict(config, r=config["r"]), {})
    for path, (rows, cols) in modules.items():
        rank = lora.of_pattern(config["rank_pattern"], path, config["r"])
        # Large enough that leaving one out is seen in the logits, small enough that the model stays one.
        std = 0.15 / (ranks.scale(path) * rank**0.5)
        for half, shape, size in (("A", (rank, cols), cols**-0.5), ("B", (rows, rank), std)):
            values = deterministic_random.normal(f"daybreak lora {name} {path} {half}", shape, size)
            tensors.add(f"{lora.ROOT}{path}.lora_{half}.weight", dtype, values)
    directory = pathlib.Path(out) / name
    directory.mkdir(parents=True, exist_ok=True)
    write_json(directory / "adapter_config.json", config)
    tensors.write(directory / "adapter_model.safetensors", list(tensors.entries))


def make_golden(name, adapters, out):
    checkpoint = ROOT / "testdata" / "checkpoints" / ADAPTERS[name][0]
    model = Model.load(checkpoint, lora.Adapter.load(pathlib.Path(adapters) / name))
    cases = [golden.seeded_case(model, name, length, golden.GREEDY) for length in LENGTHS]
    out = pathlib.Path(out)
    out.mkdir(parents=True, exist_ok=True)
    golden.write(out / f"{name}.json", {"checkpoint": f"testdata/checkpoints/{checkpoint.name}", "cases": cases})


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "testdata" / "lora")
    parser.add_argument("--golden", type=pathlib.Path, default=ROOT / "golden" / "lora")
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args(arguments)
    for name in options.names or ADAPTERS:
        make_adapter(name, options.out)
        make_golden(name, options.out, options.golden)
        print(name, file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
