#!/usr/bin/env python3
"""The official Python package against a running server: plain, streamed, tools, structured output, errors.

usage: openai_python_test.py URL
"""
import json
import re
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
    hi = [{"role": "user", "content": "hi"}]
    for effort in ("none", "minimal", "low", "medium", "high", "xhigh", "max"):
        client.chat.completions.create(model=model, messages=hi, max_tokens=1, extra_body={"reasoning_effort": effort})
    for make, error, code, param in (
            (lambda: client.chat.completions.create(model="no-such-model", messages=hi),
             openai.NotFoundError, "model_not_found", "model"),
            (lambda: client.chat.completions.create(model=model, messages=hi, max_tokens=10**9),
             openai.BadRequestError, "context_length_exceeded", "messages"),
            (lambda: client.chat.completions.create(model=model, messages=[]),
             openai.BadRequestError, "invalid_argument", "messages"),
            (lambda: client.models.retrieve("no-such-model"), openai.NotFoundError, "model_not_found", "model")):
        try:
            make()
        except error as raised:
            check(raised.body and raised.body["message"], "an error message")
            check((raised.code, raised.param) == (code, param), raised.body)
        else:
            sys.exit(f"failed: expected {error.__name__}")


SCHEMA = {"type": "object", "properties": {"name": {"type": "string", "maxLength": 12}, "age": {"type": "integer",
          "minimum": 0, "maximum": 150}}, "required": ["name", "age"], "additionalProperties": False}
WEATHER = {"type": "function", "function": {"name": "get_weather", "parameters": {
    "type": "object", "properties": {"city": {"type": "string", "maxLength": 20},
                                     "unit": {"enum": ["celsius", "fahrenheit"]}},
    "required": ["city", "unit"], "additionalProperties": False}}}


def both_forms(client, **options):
    """Returns (content, tool calls as [name, arguments], finish_reason), checked to be the same streamed."""
    message = client.chat.completions.create(**options)
    calls = [[c.function.name, c.function.arguments] for c in message.choices[0].message.tool_calls or []]
    plain = (message.choices[0].message.content or "", calls, message.choices[0].finish_reason)
    content, calls, finish = "", [], None
    for chunk in client.chat.completions.create(**options, stream=True):
        for part in chunk.choices:
            content += part.delta.content or ""
            finish = part.finish_reason or finish
            for call in part.delta.tool_calls or []:
                if call.index == len(calls):
                    calls.append([call.function.name, ""])
                calls[call.index][1] += call.function.arguments or ""
    check((content, calls, finish) == plain, f"streamed equals plain: {plain}")
    return plain


def structured_outputs(client, model):
    base = {"model": model, "messages": [{"role": "user", "content": "Answer."}], "seed": 7, "reasoning_effort": "none",
            "max_completion_tokens": 400}
    schema = {"type": "json_schema", "json_schema": {"name": "person", "schema": SCHEMA, "strict": True}}
    for temperature in (0, 1):
        content, _, finish = both_forms(client, **base, temperature=temperature, response_format=schema)
        person = json.loads(content)
        check(finish == "stop" and set(person) == {"name", "age"}, f"the schema: {content}")
        # 4.0 is an integer as JSON Schema has it.
        check(person["age"] == int(person["age"]) and 0 <= person["age"] <= 150 and len(person["name"]) <= 12, content)
    for extra, good in (
            ({"guided_choice": ["red", "green"]}, lambda text: text in ("red", "green")),
            ({"guided_regex": "[0-9]{4}-[0-9]{2}"}, lambda text: re.fullmatch("[0-9]{4}-[0-9]{2}", text)),
            ({"guided_json": SCHEMA}, lambda text: set(json.loads(text)) == {"name", "age"}),
            ({"structured_outputs": {"choice": ["x"]}}, lambda text: text == "x"),
            ({"guided_grammar": 'root ::= "a" "b"? "c"'}, lambda text: text in ("ac", "abc"))):
        content, _, finish = both_forms(client, **base, temperature=1, extra_body=extra)
        check(finish == "stop" and good(content), f"{extra}: {content!r}, {finish}")
    # The content beside a forced call is free: a model that never ends it is cut.
    for choice in ("required", {"type": "function", "function": {"name": "get_weather"}}):
        content, calls, finish = both_forms(client, **base, temperature=0, tools=[WEATHER], tool_choice=choice,
                                            parallel_tool_calls=False)
        if finish == "length":
            check(not calls or not content, "cut before the call was complete")
            continue
        check(finish == "tool_calls" and len(calls) == 1 and calls[0][0] == "get_weather", f"{calls} {finish}")
        arguments = json.loads(calls[0][1])
        check(set(arguments) == {"city", "unit"} and arguments["unit"] in ("celsius", "fahrenheit"), calls[0][1])
    for extra, words in (({"guided_regex": "(", "n": 1}, "guided_regex"),
                         ({"guided_regex": "a", "guided_choice": ["a"]}, "guided_choice")):
        try:
            client.chat.completions.create(**base, extra_body=extra)
        except openai.BadRequestError as raised:
            check(words in raised.body["message"], f"the field in: {raised.body['message']}")
        else:
            sys.exit(f"failed: expected an error for {extra}")


def completions(client, model):
    """Raw text: streamed equals plain, a scored prompt equals what was reported when it was generated."""
    options = {"model": model, "prompt": "Hello! Who", "temperature": 0, "max_tokens": 24, "logprobs": 2}
    plain = client.completions.create(**options)
    choice = plain.choices[0]
    check(plain.object == "text_completion" and choice.text, "some raw text")
    text, tokens, usage, finish = "", [], None, None
    for chunk in client.completions.create(**options, stream=True, stream_options={"include_usage": True}):
        usage = chunk.usage or usage
        for part in chunk.choices:
            text += part.text
            tokens += part.logprobs.tokens if part.logprobs else []
            finish = part.finish_reason or finish
    check((text, tokens, finish) == (choice.text, choice.logprobs.tokens, choice.finish_reason), "streamed equals plain")
    check(usage.completion_tokens == plain.usage.completion_tokens == len(tokens), "usage too")
    # The ids of the answer, fed back as a prompt, get the same log-probabilities to the last bit.
    ids = client.completions.create(**options, extra_body={"return_token_ids": True}).choices[0]
    prompt = ids.prompt_token_ids + ids.token_ids
    scored = client.completions.create(model=model, prompt=prompt, max_tokens=0, echo=True, logprobs=2).choices[0]
    begun = len(ids.prompt_token_ids)
    check(scored.logprobs.token_logprobs[0] is None and len(scored.logprobs.tokens) == len(prompt), "every prompt id")
    check(scored.logprobs.token_logprobs[begun:] == choice.logprobs.token_logprobs, "scored equals generated")
    check("".join(scored.logprobs.tokens[:begun]) == "Hello! Who", "the prompt's tokens")
    rated = client.completions.create(model=model, prompt=prompt, max_tokens=1, extra_body={"prompt_logprobs": 1})
    rated = rated.choices[0].prompt_logprobs
    check([r and r[str(i)]["logprob"] for r, i in zip(rated, prompt)] == scored.logprobs.token_logprobs, "both forms")
    check(all(rated[i][str(prompt[i])]["rank"] == 1 for i in range(begun, len(prompt))), "greedy ids have rank 1")
    several = client.completions.create(model=model, prompt=["a", "b"], n=2, max_tokens=2, seed=3)
    check([c.index for c in several.choices] == [0, 1, 2, 3], "prompts and choices")
    form = client.completions.create(model=model, prompt="x", max_tokens=50, temperature=1, seed=1,
                                     extra_body={"guided_regex": "[0-9]{3}", "ignore_eos": True}).choices[0]
    check(re.fullmatch("[0-9]{3}", form.text) and form.finish_reason == "stop", f"a form: {form.text!r}")
    for wrong in ({"suffix": "x"}, {"best_of": 2}, {"logprobs": 21}):
        try:
            client.completions.create(model=model, prompt="a", **wrong)
        except openai.BadRequestError as raised:
            check(raised.body["param"] in wrong, f"the field of {wrong}")
        else:
            sys.exit(f"failed: expected an error for {wrong}")


def main():
    client = openai.OpenAI(base_url=sys.argv[1] + "/v1", api_key="none", max_retries=0, timeout=120)
    model = client.models.list().data[0].id
    check(client.models.retrieve(model).id == model, "retrieve")
    plain_and_streamed(client, model)
    options_and_errors(client, model)
    structured_outputs(client, model)
    completions(client, model)
    print(f"openai {openai.__version__} (Python): models, plain, streamed, n=2, tools, logprobs, structured, completions, errors ok")


if __name__ == "__main__":
    main()
