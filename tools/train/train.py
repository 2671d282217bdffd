# SPDX-License-Identifier: Apache-2.0
"""Trains nano, from the start or from where the directory's newest checkpoint is.

    python -m tools.train.train DIR [--threads 2] [--rate 3e-3] [--minutes N] [--decay STEPS] [--pictures] [--from CHECKPOINT]

The learning rate warms up and stays, for as long as wanted; --decay lets it fall to nothing over STEPS from now on,
which ends the training. A checkpoint is written every 3 minutes and on SIGTERM and SIGINT; log.jsonl gets a line
every 20 steps.
"""

import argparse
import json
import os
import pathlib
import signal
import sys
import time

CHECKPOINT_SECONDS = 180
LOG_STEPS = 20
WARMUP_STEPS = 200


def _parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rate", type=float, default=3e-3)
    parser.add_argument("--minutes", type=float, help="stop after this time")
    parser.add_argument("--steps", type=int, help="stop after this many steps")
    parser.add_argument("--decay", type=int, help="let the learning rate fall to 0 over this many steps, then stop")
    parser.add_argument(
        "--pictures", action="store_true", help="add the vision tower and pictures to the data, from now on"
    )
    parser.add_argument(
        "--from", dest="origin", type=pathlib.Path, help="begin with this checkpoint if the directory has none"
    )
    return parser.parse_args(arguments)


def rate_at(step, warm_from, peak, decay):
    """Warm-up from step warm_from, constant, and a straight line to 0 if a decay has begun."""
    rate = peak * min(1.0, (step - warm_from + 1) / WARMUP_STEPS)
    if decay is not None:
        rate *= max(0.0, 1 - (step - decay["from"]) / decay["steps"])
    return rate


def _fresh():
    from . import config, model, step, tokenizer
    from .state import State

    made = tokenizer.make()
    value = config.config_json(made)
    parsed = config.parse(value)
    return State(step.initial(model.initial(parsed), model.initial_biases(parsed)), value, made.vocabulary)


def _open(options):
    from . import state

    if state.checkpoints(options.directory):
        return state.load(options.directory)
    return state.load(options.origin) if options.origin else _fresh()


class Window:
    """What happened since the last line of the log."""

    def __init__(self):
        self.reports, self.tokens, self.started = [], 0, time.time()

    def line(self, state, rate):
        import numpy as np

        from .data_stream import SKILLS

        total = {key: sum(np.asarray(r[key]) for r in self.reports) for key in ("loss", "right", "count")}
        by_skill = {
            s: [round(float(total[k][i] / total["count"][i]), 4) for k in ("loss", "right")]
            for i, s in enumerate(SKILLS)
            if total["count"][i]
        }
        seconds = time.time() - self.started
        return {
            "step": state.step, "tokens": state.tokens, "learnt": state.learnt, "loss": round(float(total["loss"].sum() / total["count"].sum()), 4),
            "right": round(float(total["right"].sum() / total["count"].sum()), 4), "skills": by_skill, "norm": round(float(np.mean([r["norm"] for r in self.reports])), 3),
            "load": [round(float(x), 2) for x in np.mean([r["load"] for r in self.reports], axis=0)], "rate": round(rate, 6),
            "tokens_per_second": round(self.tokens / seconds), "hours": round(state.seconds / 3600, 3),
        }  # fmt: skip


def run(options):
    import jax
    import numpy as np

    from . import data_stream, state, step
    from .data_render import Renderer

    data_stream.register()
    options.directory.mkdir(parents=True, exist_ok=True)
    current = _open(options)
    stopping = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.append(True))
    if options.decay and current.decay is None:
        current.decay = {"from": current.step, "steps": options.decay}
    stream = data_stream.Stream(Renderer(current.tokenizer()), current.stream)
    if options.pictures:
        current.add_vision()
        stream.add_pictures()
    take = step.compiled(current.config(), current.config_value.get("vision_config"))
    print(f"step {current.step}, {current.tokens} tokens, pid {os.getpid()}, directory {options.directory}", flush=True)
    began = saved = last = time.time()
    first, window = current.step, Window()
    warm_from = int(current.training["warm_from"])
    while not stopping:
        rate = rate_at(current.step, warm_from, options.rate, current.decay)
        batch = next(stream)
        current.training, report = take(current.training, batch, np.float32(rate))
        window.reports.append(jax.device_get(report))
        used = int((batch.segments >= 0).sum())
        window.tokens += used
        current.tokens += used
        current.learnt += int(batch.weights.sum())
        now = time.time()
        current.seconds, last = current.seconds + now - last, now
        if current.step % LOG_STEPS == 0:
            line = window.line(current, rate)
            with open(options.directory / "log.jsonl", "a", encoding="utf-8") as log:
                log.write(json.dumps(line) + "\n")
            if not np.isfinite(line["loss"]):
                raise FloatingPointError(f"step {current.step}: loss {line['loss']}")
            window = Window()
        done = (
            (options.minutes and now - began > options.minutes * 60)
            or (options.steps and current.step - first >= options.steps)
            or (current.decay and current.step - current.decay["from"] >= current.decay["steps"])
        )
        if stopping or done or now - saved > CHECKPOINT_SECONDS:
            current.stream = stream.save()
            state.save(options.directory, current)
            saved = time.time()
        if done:
            break
    print(f"stopped at step {current.step}, {current.tokens} tokens", flush=True)


def main(arguments):
    options = _parse(arguments)
    flags = "--xla_cpu_prefer_vector_width=512"
    if options.threads == 1:
        flags += " --xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    os.environ["XLA_FLAGS"] = f"{flags} {os.environ.get('XLA_FLAGS', '')}".strip()
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(options.directory / "compiled"))
    run(options)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
