# SPDX-License-Identifier: Apache-2.0
"""Writes testdata/ctx1m: a K3 so small that prompts of its whole million tokens can be tested.

    python -m tools.make_ctx1m [--out DIR] [--check]

Three KDA layers and one MLA layer with one small head, so that attention over a million positions, whose work grows
with the square of them, stays in reach of a CPU. The vocabulary is that of the bundled model. --check writes elsewhere
and compares with the stored files.
"""

import argparse
import filecmp
import pathlib
import shutil
import sys
import tempfile

from .checkpoint_catalogue import Spec
from .checkpoint_writer import write_json
from .synthetic_weights import Storage, WeightMaker

ROOT = pathlib.Path(__file__).resolve().parent.parent
NANO = ROOT / "models" / "nano"
DEFAULT_OUT = ROOT / "testdata" / "ctx1m"
CONTEXT = (1 << 20) + (1 << 14)  # a prompt of 2^20 tokens, and a turn after it
FILES = ("config.json", "generation_config.json", "tokenizer_config.json", "tiktoken.model", "model.safetensors")
IDS = {"bos_token_id": 1536, "eos_token_id": 1538, "pad_token_id": 1791}  # of nano's vocabulary

SPEC = Spec(
    about="one small head of full attention, a million positions",
    text={
        "vocab_size": 1792, "num_attention_heads": 1, "num_key_value_heads": 1, "q_lora_rank": 16, "kv_lora_rank": 8,
        "qk_nope_head_dim": 8, "qk_rope_head_dim": 8, "v_head_dim": 8, "max_position_embeddings": CONTEXT, **IDS,
    },
    linear={"num_heads": 1, "head_dim": 16},
    full_attention=(4,),
    storage=Storage(embed_std=4.0),
)  # fmt: skip


def make(out):
    """Writes the five files to out."""
    out.mkdir(parents=True, exist_ok=True)
    config = {**SPEC.config(), **IDS, "media_placeholder_token_id": 1557}
    write_json(out / "config.json", config)
    write_json(out / "generation_config.json", {"eos_token_id": IDS["eos_token_id"], "max_length": CONTEXT})
    WeightMaker(config, SPEC.storage, seed="daybreak ctx1m ").make().write_snapshot(out, 1, True)
    for name in ("tokenizer_config.json", "tiktoken.model"):
        shutil.copyfile(NANO / name, out / name)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=DEFAULT_OUT)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if not options.check:
        return make(options.out)
    with tempfile.TemporaryDirectory() as scratch:
        make(pathlib.Path(scratch))
        _, differing, missing = filecmp.cmpfiles(scratch, DEFAULT_OUT, FILES, shallow=False)
    if differing or missing:
        sys.exit(f"testdata/ctx1m: differing {differing}, missing {missing}")
    print("testdata/ctx1m is what the tool makes")


if __name__ == "__main__":
    main()
