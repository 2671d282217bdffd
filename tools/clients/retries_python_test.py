#!/usr/bin/env python3
"""Time-outs and retries of the official Python packages: the retry gets the answer that the first try began.

usage: retries_python_test.py URL
"""
import re
import sys
import time
import urllib.request

import anthropic
import openai


def check(condition, what):
    if not condition:
        sys.exit(f"failed: {what}")


def metric(url, name):
    with urllib.request.urlopen(url + "/metrics") as reply:
        found = re.search(rf"^{name}(?:{{.*}})? (\S+)$", reply.read().decode(), re.M)
    return int(float(found.group(1)))


def seconds(call):
    began = time.monotonic()
    call()
    return time.monotonic() - began


def one_generation(url, name, call):
    """`call(tokens, timeout, retries)` makes a request of about so many tokens; twice as many take longer."""
    tokens, took = 512, 0
    while took < 2 and tokens < 30000:
        tokens *= 2
        took = seconds(lambda: call(tokens, 600, 0))
    submitted = metric(url, "daybreak_engine_requests_submitted_total")
    replayed = metric(url, "daybreak_replayed_answers_total")
    call(tokens, took / 2, 6)
    check(metric(url, "daybreak_engine_requests_submitted_total") == submitted + 1, f"{name}: one generation")
    check(metric(url, "daybreak_replayed_answers_total") == replayed + 1, f"{name}: given to the retry")


def main():
    url = sys.argv[1]
    first = openai.OpenAI(base_url=url + "/v1", api_key="none")
    model = first.models.list().data[0].id
    messages = [{"role": "user", "content": "Hello!"}]

    def chat(tokens, timeout, retries):
        first.with_options(timeout=timeout, max_retries=retries).chat.completions.create(
            model=model, messages=messages, max_completion_tokens=tokens, extra_body={"ignore_eos": True})

    def completion(tokens, timeout, retries):
        first.with_options(timeout=timeout, max_retries=retries).completions.create(
            model=model, prompt="Hello!", max_tokens=tokens, extra_body={"ignore_eos": True})

    def response(tokens, timeout, retries):
        first.with_options(timeout=timeout, max_retries=retries).responses.create(
            model=model, input="Hello!", max_output_tokens=tokens, extra_body={"ignore_eos": True})

    second = anthropic.Anthropic(base_url=url, api_key="none")

    def message(tokens, timeout, retries):
        # This protocol has no field for answers of a certain length: here the prompt is long, and new each time.
        prompt = f"{time.monotonic_ns()} " + "hello " * tokens
        second.with_options(timeout=timeout, max_retries=retries).messages.create(
            model=model, messages=[{"role": "user", "content": prompt}], max_tokens=4)

    for name, call in (("chat", chat), ("completions", completion), ("responses", response), ("messages", message)):
        one_generation(url, name, call)
    print(f"openai {openai.__version__}, anthropic {anthropic.__version__} (Python): a time-out and its retry cost one generation")


if __name__ == "__main__":
    main()
