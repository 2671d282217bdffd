# SPDX-License-Identifier: Apache-2.0
"""Measures one engine on a file of schemas, one JSON line of results per schema; started by compare.py.

    python worker.py ENGINE TIKTOKEN_MODEL SCHEMAS --from N --vocab-size N --eos ID

A process of its own, because an engine may take minutes over a schema, or crash: the parent ends it and goes on.
"""

import argparse
import json
import pathlib
import time

import engines

_NOW = time.perf_counter_ns


def resident_bytes():
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def allowed(mask, token):
    return (int(mask[token // 32]) >> (token % 32)) & 1 == 1


def empty_call_us(engine, matcher):
    times = []
    for _ in range(2000):
        begin = _NOW()
        engine.empty_call(matcher)
        times.append(_NOW() - begin)
    return sorted(times)[len(times) // 2] / 1000


def run_instance(engine, grammar, ids, times):
    """Appends the time of every mask; returns what went wrong, or None."""
    matcher = engine.start(grammar)
    for at, token in enumerate(ids):
        begin = _NOW()
        engine.fill(matcher)
        times.append(_NOW() - begin)
        if not allowed(engine.mask, token):
            return f"id {at} ({token}) is not in the mask"
        if not engine.accept(matcher, token):
            return f"id {at} ({token}) is in the mask and not accepted"
    begin = _NOW()
    engine.fill(matcher)
    times.append(_NOW() - begin)
    return None if engine.done(matcher) else "not complete at its end"


def accepts(engine, grammar, ids):
    matcher = engine.start(grammar)
    for token in ids:
        engine.fill(matcher)
        if not allowed(engine.mask, token) or not engine.accept(matcher, token):
            return False
    engine.fill(matcher)
    return engine.done(matcher)


def run_schema(engine, entry, alive):
    begin = _NOW()
    try:
        grammar = engine.compile(entry["schema"])
        engine.fill(engine.start(grammar))
    except engines.Refused as refusal:
        return {"refused": str(refusal)[:300]}
    first = _NOW() - begin
    alive.append(grammar)
    times, failures = [], []
    for number, ids in enumerate(entry["ids"]):
        failure = run_instance(engine, grammar, ids, times)
        if failure is not None:
            failures.append(f"instance {number}: {failure}")
    loose = sum(accepts(engine, grammar, ids) for ids in entry["invalid_ids"])
    return {"first_mask_ns": first, "mask_ns": times, "wrong": failures, "loose": loose}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine", choices=sorted(engines.ENGINES))
    parser.add_argument("ranks")
    parser.add_argument("schemas", type=pathlib.Path)
    parser.add_argument("--from", dest="first", type=int, default=0)
    parser.add_argument("--vocab-size", type=int, required=True)
    parser.add_argument("--eos", type=int, required=True)
    options = parser.parse_args()
    engine = engines.ENGINES[options.engine](engines.read_ranks(options.ranks), options.vocab_size, options.eos)
    entries = [json.loads(line) for line in options.schemas.read_text().splitlines()]
    # What is loaded and compiled on first use is not part of any schema's time.
    warm = engine.compile('{"type":"object","properties":{"warm":{"type":"string"}},"required":["warm"]}')
    matcher = engine.start(warm)
    engine.fill(matcher)
    print(json.dumps({"empty_call_us": empty_call_us(engine, matcher)}), flush=True)
    alive = []
    before = resident_bytes()
    for entry in entries[options.first :]:
        result = run_schema(engine, entry, alive)
        result["rss_delta"] = resident_bytes() - before
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
