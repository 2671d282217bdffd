# SPDX-License-Identifier: Apache-2.0
"""Writes models/nano, the bundled model: synthetic K3 with a fitted readout.

    python -m tools.make_nano [--out DIR] [--check]

--check writes elsewhere and compares with the stored files.
"""

import argparse
import os
import pathlib
import sys
import tempfile

# One thread and one instruction set for the matrix products of the fit, so that its sums have one order. Set before
# numpy loads the library.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_CORETYPE", "Haswell")

from . import nano_answer, nano_fit, nano_model, nano_prompts, nano_tokenizer  # noqa: E402
from .checkpoint_writer import write_json  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
DEFAULT_OUT = ROOT / "models" / "nano"
FILES = ("config.json", "generation_config.json", "tokenizer_config.json", "tiktoken.model", "model.safetensors")
MAX_BYTES = 4_000_000


def tokenizer():
    """The bundled vocabulary, trained on the corpus, the control messages and the model's own sentences."""
    controls = [nano_prompts.EFFORT, nano_prompts.TOOLS, nano_prompts.MORE_TOOLS]
    controls += [*nano_prompts.TOOL_CHOICES, *nano_prompts.FORMATS]
    answers = nano_answer.all_text() * 3
    words = [*nano_prompts.CHANNEL_WORDS, *nano_prompts.ATTRIBUTES]
    vocabulary = nano_tokenizer.train([nano_prompts.CORPUS, *controls, *answers], words, nano_model.RANKS)
    made = nano_tokenizer.Tokenizer(vocabulary)
    for word in nano_prompts.CHANNEL_WORDS:
        if len(made.encode(word)) != 1:
            raise AssertionError(f"{word}: expected one token, found {made.encode(word)}")
    return made


def make(out):
    """Writes the five files to out; returns what the fit reports."""
    out.mkdir(parents=True, exist_ok=True)
    tokens = tokenizer()
    config = nano_model.config(tokens)
    write_json(out / "config.json", config)
    longest = config["text_config"]["max_position_embeddings"]
    write_json(out / "generation_config.json", {"eos_token_id": config["eos_token_id"], "max_length": longest})
    write_json(out / "tokenizer_config.json", tokens.config())
    (out / "tiktoken.model").write_text(tokens.model_file())
    tensors = nano_model.NanoWeights(config).make()
    report = nano_fit.fit(config, tensors, tokens)
    tensors.write_snapshot(out)
    size = sum((out / name).stat().st_size for name in FILES)
    if size > MAX_BYTES:
        raise AssertionError(f"{out}: expected at most {MAX_BYTES} bytes, found {size}")
    return f"{size} bytes; {report}"


def check():
    """Names of stored files that a new run does not reproduce."""
    with tempfile.TemporaryDirectory() as scratch:
        make(pathlib.Path(scratch))
        return [n for n in FILES if (pathlib.Path(scratch) / n).read_bytes() != (DEFAULT_OUT / n).read_bytes()]


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=DEFAULT_OUT)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args(arguments)
    if options.check:
        differing = check()
        print(f"differing: {differing}" if differing else "identical")
        return 1 if differing else 0
    print(make(options.out), file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
