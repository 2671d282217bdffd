#!/usr/bin/env python3
"""The official Python package against a running server: plain, streamed, tools, errors.

usage: openai_python_test.py URL
"""
import sys

import openai


def check(condition, what):
    if not condition:
        sys.exit(f"failed: {what}")


def plain_and_streamed(client, model):
    messages = [{"role": "user", "content": "Hello! Who are you?"}]
    options = {"model": model, "messages": messages, "temperature": 0, "max_completion_tokens": 48}
    plain = client.chat.completions.create(**options)
    choice = plain.choices[0]
    check(choice.finish_reason in ("stop", "length"), f"finish_reason {choice.finish_reason}")
    check(plain.usage.completion_tokens > 0 and plain.usage.prompt_tokens > 0, "usage")
    check(plain.usage.total_tokens == plain.usage.completion_tokens + plain.usage.prompt_tokens, "total")

    content, reasoning, usage, finish = "", "", None, None
    for chunk in client.chat.completions.create(**options, stream=True, stream_options={"include_usage": True}):
        if chunk.usage is not None:
            usage = chunk.usage
        for part in chunk.choices:
            content += part.delta.content or ""
            reasoning += getattr(part.delta, "reasoning_content", None) or ""
            finish = part.finish_reason or finish
    check(content == (choice.message.content or ""), "streamed content equals the plain one")
    check(reasoning == (getattr(choice.message, "reasoning_content", None) or ""), "reasoning too")
    check(finish == choice.finish_reason, "finish_reason too")
    check(usage is not None and usage.completion_tokens == plain.usage.completion_tokens, "usage too")
    check(content or reasoning, "some text")


def options_and_errors(client, model):
    several = client.chat.completions.create(
        model=model, messages=[{"role": "user", "content": "hi"}], n=2, seed=1, max_tokens=8,
        logprobs=True, top_logprobs=2,
        tools=[{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}])
    check([c.index for c in several.choices] == [0, 1], "two choices")
    for make, error in (
            (lambda: client.chat.completions.create(model="no-such-model", messages=[{"role": "user", "content": "hi"}]),
             openai.NotFoundError),
            (lambda: client.chat.completions.create(model=model, messages=[]), openai.BadRequestError),
            (lambda: client.models.retrieve("no-such-model"), openai.NotFoundError)):
        try:
            make()
        except error as raised:
            check(raised.body and raised.body["message"], "an error message")
        else:
            sys.exit(f"failed: expected {error.__name__}")


def main():
    client = openai.OpenAI(base_url=sys.argv[1] + "/v1", api_key="none", max_retries=0, timeout=120)
    model = client.models.list().data[0].id
    check(client.models.retrieve(model).id == model, "retrieve")
    plain_and_streamed(client, model)
    options_and_errors(client, model)
    print(f"openai {openai.__version__} (Python): models, plain, streamed, n=2, tools, logprobs, errors ok")


if __name__ == "__main__":
    main()
