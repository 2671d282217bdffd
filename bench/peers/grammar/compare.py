# SPDX-License-Identifier: Apache-2.0
"""Measures the grammars of daybreak, llguidance and xgrammar on the same schemas, ids and vocabulary, in one session.

    python bench/peers/grammar/compare.py MODEL_DIR SCHEMAS.jsonl --daybreak build/release/daybreak [--json]

MODEL_DIR holds tiktoken.model and tokenizer_config.json. SCHEMAS.jsonl has {"name","schema","instances":[text, ...],
"invalid":[text, ...]} per line (tools/make_grammar_bench.py); times are taken on the valid ones only. The peers are installed once into --environment.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import selectors
import subprocess
import sys
import tempfile
import venv

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent.parent
PEERS = ("llguidance", "xgrammar")
QUANTILES = (("p50", 0.5), ("p75", 0.75), ("p90", 0.9), ("p99", 0.99))


def python_of(environment):
    """The interpreter with the pinned peers, installed if it is not there yet."""
    python = environment / "bin" / "python"
    if not (environment / "complete").exists():
        print(f"installing the peers into {environment}", file=sys.stderr)
        venv.create(environment, with_pip=True, clear=True)
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "-r", HERE / "requirements.txt"], check=True)
        # Its dependencies torch, transformers and triton are gigabytes that masks do not need; see engines.py.
        subprocess.run([*pip, "--no-deps", "-r", HERE / "requirements-without-dependencies.txt"], check=True)
        (environment / "complete").write_text("")
    return python


def tokenize(daybreak, model, texts):
    lines = "".join(json.dumps({"text": text}) + "\n" for text in texts)
    command = [str(daybreak), "tokenize", str(model), "--jsonl"]
    done = subprocess.run(command, input=lines.encode(), stdout=subprocess.PIPE, check=True)
    return [json.loads(line)["ids"] for line in done.stdout.splitlines()]


def with_ids(entries, daybreak, model):
    texts = [text for entry in entries for text in (*entry["instances"], *entry.get("invalid", []))]
    ids = iter(tokenize(daybreak, model, texts))
    return [
        {
            "schema": entry["schema"],
            "ids": [next(ids) for _ in entry["instances"]],
            "invalid_ids": [next(ids) for _ in entry.get("invalid", [])],
        }
        for entry in entries
    ]


class Lines:
    """Lines of a pipe, each with a deadline."""

    def __init__(self, pipe):
        self._pipe, self._rest = pipe, b""
        self._selector = selectors.DefaultSelector()
        self._selector.register(pipe, selectors.EVENT_READ)

    def next(self, seconds):
        """The next line; None when the pipe ended; raises TimeoutError."""
        while b"\n" not in self._rest:
            if not self._selector.select(seconds):
                raise TimeoutError
            chunk = os.read(self._pipe.fileno(), 1 << 16)
            if not chunk:
                return None
            self._rest += chunk
        line, self._rest = self._rest.split(b"\n", 1)
        return json.loads(line)


def run_peer(engine, python, ranks, file, count, options):
    """One result per schema, and the cost of an empty call."""
    results, empty = [], None
    while len(results) < count:
        command = [python, HERE / "worker.py", engine, ranks, file, "--from", len(results),
                   "--vocab-size", options.vocab_size, "--eos", options.eos]  # fmt: skip
        worker = subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE)
        lines = Lines(worker.stdout)
        failure = None
        try:
            head = lines.next(300)
            if head is None:
                sys.exit(f"{engine}: the worker did not start")
            empty = head["empty_call_us"]
            while len(results) < count:
                result = lines.next(options.timeout)
                if result is None:
                    failure = "crashed"
                    break
                results.append(result)
        except TimeoutError:
            failure = f"took longer than {options.timeout} s"
        worker.kill()
        worker.wait()
        worker.stdout.close()
        if failure is not None:
            results.append({"refused": failure})
    return results, empty


def quantiles(values, unit):
    ordered = sorted(values)
    if not ordered:
        return {}
    out = {"mean": sum(ordered) / len(ordered) / unit, "max": ordered[-1] / unit}
    for name, share in QUANTILES:
        out[name] = ordered[min(len(ordered) - 1, int(share * len(ordered)))] / unit
    return out


def kind_of(refusal):
    """The first line of a refusal without what differs from schema to schema."""
    line = next((line for line in refusal.splitlines() if line.strip()), "unnamed").strip()
    return re.sub(r"/\S*/|\"[^\"]*\"?|'[^']*'?|`[^`]*`?|[{\[].*", "...", line)[:100]


def summary(results, empty):
    compiled = [r for r in results if "refused" not in r]
    return {
        "schemas": len(results),
        "refused": len(results) - len(compiled),
        "refused_by_reason": dict(collections.Counter(kind_of(r["refused"]) for r in results if "refused" in r).most_common(12)),
        "wrongly_refused_instances": sum(len(r["wrong"]) for r in compiled),
        "schemas_with_wrong_refusals": sum(bool(r["wrong"]) for r in compiled),
        "accepted_invalid_instances": sum(r["loose"] for r in compiled),
        "schemas_loosened": sum(r["loose"] > 0 for r in compiled),
        "masks": sum(len(r["mask_ns"]) for r in compiled),
        "mask_us": quantiles([t for r in compiled for t in r["mask_ns"]], 1000),
        "first_mask_ms": quantiles([r["first_mask_ns"] for r in compiled], 1_000_000),
        "rss_mb": max((r.get("rss_delta", 0) for r in results), default=0) / 1e6,
        "empty_call_us": empty,
    }


def run_daybreak(options):
    command = [options.daybreak, "bench", "grammar", options.model, "--schemas", options.schemas, "--json",
               "--vocab-size", options.vocab_size]  # fmt: skip
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def best_of(rounds):
    return min(rounds, key=lambda r: r["mask_us"].get("mean", float("inf")))


def understood_by_all(entries, python, ranks, file, options):
    """The schemas that every peer compiles and whose valid instances it accepts: there all engines compute the same masks."""
    keep = [True] * len(entries)
    for engine in PEERS:
        results, _ = run_peer(engine, python, ranks, file, len(entries), options)
        keep = [k and "refused" not in r and not r["wrong"] for k, r in zip(keep, results)]
    return [entry for k, entry in zip(keep, entries) if k]


def markdown(found):
    rows = ["| engine | mask us mean | p50 | p75 | p90 | p99 | max | first mask ms p50 | p99 | refused schemas | valid instances refused | invalid accepted |",
            "|---|---|---|---|---|---|---|---|---|---|---|---|"]  # fmt: skip
    for engine, r in found.items():
        mask = [f"{r['mask_us'][key]:.1f}" for key in ("mean", "p50", "p75", "p90", "p99", "max")]
        first = [f"{r['first_mask_ms'][key]:.2f}" for key in ("p50", "p99")]
        counts = [f"{r['refused']} of {r['schemas']}", str(r["wrongly_refused_instances"]), str(r["accepted_invalid_instances"])]
        rows.append(f"| {engine} | {' | '.join(mask + first + counts)} |")
    for engine, r in found.items():
        if r.get("empty_call_us"):
            rows.append(f"\n{engine}: {r['empty_call_us']:.2f} us of each mask are the call from Python.")
    return "\n".join(rows)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("schemas", type=pathlib.Path)
    parser.add_argument("--daybreak", type=pathlib.Path, required=True)
    parser.add_argument("--environment", type=pathlib.Path, default=ROOT / "build" / "grammar-peers")
    parser.add_argument("--engines", type=lambda text: text.split(","), default=[*PEERS, "daybreak"])
    parser.add_argument("--vocab-size", type=int, default=163840)
    parser.add_argument("--eos", type=int, default=163586)
    parser.add_argument("--timeout", type=float, default=60, help="seconds a peer may take over one schema")
    parser.add_argument("--limit", type=int, help="only the first schemas")
    parser.add_argument("--common", action="store_true", help="only the schemas that every peer compiles and holds to")
    parser.add_argument("--rounds", type=int, default=1, help="of each engine in turn; the best mean is reported")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    entries = [json.loads(line) for line in options.schemas.read_text().splitlines()][: options.limit]
    python = python_of(options.environment)
    rounds = {engine: [] for engine in options.engines}
    with tempfile.TemporaryDirectory() as scratch:
        file = pathlib.Path(scratch) / "schemas.jsonl"

        def write_with_ids():
            file.write_text("".join(json.dumps(e) + "\n" for e in with_ids(entries, options.daybreak, options.model)))

        write_with_ids()
        if options.common:
            entries = understood_by_all(entries, python, options.model / "tiktoken.model", file, options)
            print(f"{len(entries)} schemas are understood by all peers", file=sys.stderr)
            write_with_ids()
        if options.limit or options.common:
            options.schemas = pathlib.Path(scratch) / "limited.jsonl"
            options.schemas.write_text("".join(json.dumps(e) + "\n" for e in entries))
        for number in range(options.rounds):
            for engine in options.engines:
                print(f"round {number + 1}: {engine}, load {os.getloadavg()[0]:.1f}", file=sys.stderr)
                if engine == "daybreak":
                    rounds[engine].append(run_daybreak(options))
                else:
                    ranks = options.model / "tiktoken.model"
                    rounds[engine].append(summary(*run_peer(engine, python, ranks, file, len(entries), options)))
    found = {engine: best_of(results) for engine, results in rounds.items()}
    print(json.dumps(found) if options.json else markdown(found))


if __name__ == "__main__":
    main(sys.argv[1:])
