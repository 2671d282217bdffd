# SPDX-License-Identifier: Apache-2.0
"""Checkpoints of a training: one self-contained .npz with parameters, optimizer, data position and vocabulary.

    python -m tools.train.state DIR --compact FILE       parameters in bfloat16 without the optimizer, to be kept in git

A checkpoint is written beside its name and renamed, so that a stop at any moment leaves whole files; two are kept.
"""

import argparse
import base64
import dataclasses
import json
import os
import pathlib
import sys

import jax.numpy as jnp
import ml_dtypes
import numpy as np

from . import config as config_module
from . import optimizer, vision
from .tokenizer import Tokenizer

KEPT = 2
_GROUPS = ("params", "average", "first", "second")


@dataclasses.dataclass
class State:
    """training is what step.take carries; the rest is bookkeeping that goes into `meta` of the file."""

    training: dict
    config_value: dict
    vocabulary: list
    stream: dict = None
    tokens: int = 0
    learnt: int = 0
    seconds: float = 0.0
    decay: dict = None  # {"from": step, "steps": count} once the learning rate goes down

    @property
    def step(self):
        return int(self.training["step"])

    def config(self):
        return config_module.parse(self.config_value)

    def tokenizer(self):
        return Tokenizer(self.vocabulary)

    def add_vision(self):
        """Gives the model a fresh vision tower, if it has none."""
        if "vision_config" in self.config_value:
            return
        hidden = self.config().hidden
        self.config_value["vision_config"] = {**config_module.VISION, "text_hidden_size": hidden}
        fresh = vision.initial(config_module.VISION, hidden)
        self.training["params"].update(fresh)
        self.training["average"].update({n: p.copy() for n, p in fresh.items()})
        for group, values in optimizer.initial(fresh).items():
            self.training["moments"][group].update(values)

    def export_params(self):
        return self.training["average"]

    def export_biases(self):
        return self.training["average_biases"]

    def meta(self):
        text = [base64.b64encode(t).decode() for t in self.vocabulary]
        return {
            "config": self.config_value, "vocabulary": text, "stream": self.stream, "tokens": self.tokens, "learnt": self.learnt,
            "seconds": self.seconds, "decay": self.decay, "step": self.step,
            "warm_from": int(self.training["warm_from"]),
        }  # fmt: skip


def _arrays(training, compact):
    biases = {"biases": np.stack(training["biases"]), "average_biases": np.stack(training["average_biases"])}
    groups = {"params": training["params"]}
    if not compact:
        groups.update(average=training["average"], **training["moments"])
    made = {}
    for group, values in groups.items():
        for name, value in values.items():
            value = np.asarray(value)
            made[f"{group}/{name}"] = value.astype(ml_dtypes.bfloat16).view(np.uint16) if compact else value
    return {**made, **biases}


def _write(path, state, compact=False):
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".partial")
    meta = np.frombuffer(json.dumps(state.meta()).encode(), np.uint8)
    with open(partial, "wb") as file:
        np.savez(file, meta=meta, **_arrays(state.training, compact))
        file.flush()
        os.fsync(file.fileno())
    os.replace(partial, path)


def checkpoints(directory):
    """Oldest first."""
    return sorted(pathlib.Path(directory).glob("checkpoint-*.npz"))


def save(directory, state):
    _write(pathlib.Path(directory) / f"checkpoint-{state.step:08}.npz", state)
    for old in checkpoints(directory)[:-KEPT]:
        old.unlink()


def load(path):
    """The State of a checkpoint, compact or whole; of a directory, its newest."""
    path = pathlib.Path(path)
    if path.is_dir():
        found = checkpoints(path)
        if not found:
            raise FileNotFoundError(f"{path}: expected a checkpoint-*.npz, found none")
        path = found[-1]
    with np.load(path) as file:
        meta = json.loads(file["meta"].tobytes())
        groups = {g: {} for g in _GROUPS}
        for key in file.files:
            group, _, name = key.partition("/")
            if name:
                value = file[key]
                value = value.view(ml_dtypes.bfloat16).astype(np.float32) if value.dtype == np.uint16 else value
                groups[group][name] = jnp.asarray(value)
        biases, average_biases = ([jnp.asarray(b) for b in file[n]] for n in ("biases", "average_biases"))
    params = groups["params"]
    whole = bool(groups["average"])
    moments = {"first": groups["first"], "second": groups["second"]} if whole else optimizer.initial(params)
    average = groups["average"] if whole else {n: p.copy() for n, p in params.items()}
    training = {
        "params": params, "moments": moments, "biases": biases, "average": average, "average_biases": average_biases,
        "step": jnp.asarray(meta["step"], jnp.int32), "warm_from": jnp.asarray(meta["warm_from" if whole else "step"], jnp.int32),
    }  # fmt: skip
    vocabulary = [base64.b64decode(t) for t in meta["vocabulary"]]
    return State(
        training,
        meta["config"],
        vocabulary,
        meta["stream"],
        meta["tokens"],
        meta["learnt"],
        meta["seconds"],
        meta["decay"],
    )


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--compact", type=pathlib.Path, required=True)
    options = parser.parse_args(arguments)
    loaded = load(options.directory)
    _write(options.compact, loaded, compact=True)
    print(f"{options.compact}: {options.compact.stat().st_size} bytes, step {loaded.step}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
