#!/usr/bin/env python3
"""Anthropic's Python package against a running server: plain, streamed, tool loop, counting, structured, abort, errors.

usage: anthropic_python_test.py URL
"""
import json
import sys
import time
import urllib.request

import anthropic

# The package has no parameter for it any more; the API has.
EXACT = {"extra_body": {"temperature": 0}}
HELLO = [{"role": "user", "content": "Hello! Who are you?"}]
WEATHER = {"name": "get_weather", "description": "The weather of a city", "input_schema": {
    "type": "object", "properties": {"city": {"type": "string", "maxLength": 20},
                                     "unit": {"enum": ["celsius", "fahrenheit"]}},
    "required": ["city", "unit"], "additionalProperties": False}}
PERSON = {"type": "object", "properties": {"name": {"type": "string", "maxLength": 12}, "age": {"type": "integer"}},
          "required": ["name", "age"], "additionalProperties": False}


def check(condition, what):
    if not condition:
        sys.exit(f"failed: {what}")


def comparable(message):
    """A message without what is random in it. The stream helper has its own reading of input that was cut."""
    blocks = [b.to_dict() for b in message.content]
    for block in blocks:
        block.pop("id", None)
        block.pop("parsed_output", None)
        if message.stop_reason == "max_tokens":
            block.pop("input", None)
    return blocks, message.stop_reason, message.stop_sequence, message.usage.to_dict()


def both_forms(client, **options):
    """Returns the message, checked to be the same from the stream helper but for what the cache spared."""
    plain = client.messages.create(**options)
    with client.messages.stream(**options) as stream:
        kinds = {event.type for event in stream}
        streamed = stream.get_final_message()
    check({"message_start", "content_block_start", "content_block_stop", "message_delta", "message_stop"} <= kinds, kinds)
    left, right = comparable(plain), comparable(streamed)
    check(left[:3] == right[:3], f"streamed equals plain: {left} {right}")
    for key in ("output_tokens", "output_tokens_details"):
        check(left[3][key] == right[3][key], key)
    total = [u["input_tokens"] + u["cache_read_input_tokens"] for u in (left[3], right[3])]
    check(total[0] == total[1], f"input tokens {total}")
    return plain


def plain_and_streamed(client, model):
    message = both_forms(client, model=model, messages=HELLO, max_tokens=48, **EXACT)
    check(message.id.startswith("msg_") and message.role == "assistant" and message.model == model, message)
    check(message.stop_reason in ("end_turn", "max_tokens") and message.content, message)
    check(message.content[0].type == "thinking" and message.content[0].signature, message)
    check(message._request_id, "a request id")
    again = client.messages.create(model=model + "[1m]", max_tokens=8, **EXACT, messages=HELLO + [
        {"role": "assistant", "content": message.content}, {"role": "user", "content": "Go on."}])
    check(again.usage.input_tokens + again.usage.cache_read_input_tokens > message.usage.input_tokens, again)
    count = client.messages.count_tokens(model=model, messages=HELLO)
    usage = message.usage
    check(count.input_tokens == usage.input_tokens + usage.cache_read_input_tokens, f"{count} {usage}")


def tool_loop(client, model):
    """Two rounds; the content beside a forced call is free, and a model that never ends it is cut."""
    messages = [{"role": "user", "content": "Weather?"}]
    rounds = 0
    for _ in range(2):
        message = both_forms(client, model=model, messages=messages, max_tokens=400, **EXACT, tools=[WEATHER],
                             thinking={"type": "disabled"}, system=[{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
                             tool_choice={"type": "any", "disable_parallel_tool_use": True})
        if message.stop_reason == "max_tokens":
            break
        check(message.stop_reason == "tool_use", message)
        uses = [b for b in message.content if b.type == "tool_use"]
        check(len(uses) == 1 and uses[0].name == "get_weather" and set(uses[0].input) == {"city", "unit"}, message)
        messages += [{"role": "assistant", "content": message.content},
                     {"role": "user", "content": [{"type": "tool_result", "tool_use_id": uses[0].id, "content": [
                         {"type": "text", "text": "sunny"}, {"type": "tool_reference", "tool_name": "get_weather"}]},
                                                  {"type": "text", "text": "And now?"}]}]
        rounds += 1
    return rounds


def structured(client, model):
    message = both_forms(client, model=model, messages=HELLO, max_tokens=400, **EXACT, thinking={"type": "disabled"},
                         output_config={"format": {"type": "json_schema", "schema": PERSON}})
    check(message.stop_reason == "end_turn", message)
    check(set(json.loads(message.content[0].text)) == {"name", "age"}, message.content[0].text)


def stop_sequence(client, model):
    options = {"model": model, "messages": HELLO, "max_tokens": 40, **EXACT, "thinking": {"type": "disabled"}}
    text = client.messages.create(**options).content[0].text
    stop = text[len(text) // 2:][:3]
    message = both_forms(client, **options, stop_sequences=[stop])
    check(message.stop_reason == "stop_sequence" and message.stop_sequence == stop, message)
    check("".join(b.text for b in message.content) == text[:text.index(stop)], message)


def running(url):
    text = urllib.request.urlopen(url + "/metrics").read().decode()
    return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.startswith("vllm:num_requests_running"))


def abort(client, model, url):
    with client.messages.stream(model=model, messages=HELLO, max_tokens=4000,
                                output_config={"effort": "low"}) as stream:
        for event in stream:
            if event.type == "content_block_delta":
                break
    for _ in range(200):
        if running(url) == 0:
            return
        time.sleep(0.05)
    sys.exit("failed: an aborted stream goes on")


def errors(client, model):
    for make, error, kind in (
            (lambda: client.messages.create(model="no-such-model", max_tokens=5, messages=HELLO),
             anthropic.NotFoundError, "not_found_error"),
            (lambda: client.messages.create(model=model, max_tokens=5, messages=[]),
             anthropic.BadRequestError, "invalid_request_error"),
            (lambda: client.messages.create(model=model, max_tokens=10**9, messages=HELLO),
             anthropic.BadRequestError, "invalid_request_error"),
            (lambda: client.messages.create(model=model, max_tokens=5, messages=HELLO, tools=[
                {"type": "web_search_20250305", "name": "web_search"}]), anthropic.BadRequestError, "invalid_request_error"),
            (lambda: client.messages.count_tokens(model=model, messages=[{"role": "user", "content": [{"type": "x"}]}]),
             anthropic.BadRequestError, "invalid_request_error")):
        try:
            make()
        except error as raised:
            check(raised.body["error"]["type"] == kind and raised.body["error"]["message"], raised.body)
            check(raised.request_id == raised.body["request_id"], raised.request_id)
        else:
            sys.exit(f"failed: expected {error.__name__}")


def models(client, served):
    listed = client.models.list()
    check([m.id for m in listed.data] == served and listed.has_more is False, listed)
    check((listed.first_id, listed.last_id) == (served[0], served[-1]), listed)
    check([m.id for m in client.models.list(limit=1)] == served, "every page is asked for")
    for model in listed.data + [client.models.retrieve(served[0])]:
        check(model.type == "model" and model.display_name and model.lifecycle == "active", model)
        check(model.created_at.year >= 1970 and model.max_input_tokens > 0, model)
    try:
        client.models.retrieve("no-such-model")
        check(False, "an unknown model is found")
    except anthropic.NotFoundError as error:
        check(error.body["error"]["type"] == "not_found_error", error.body)


def main():
    url = sys.argv[1]
    for base in (url, url + "/anthropic"):
        client = anthropic.Anthropic(base_url=base, api_key="none", max_retries=0, timeout=120)
        served = [m["id"] for m in json.load(urllib.request.urlopen(url + "/v1/models"))["data"]]
        models(client, served)
        model = served[0]
        plain_and_streamed(client, model)
    rounds = tool_loop(client, model)
    structured(client, model)
    stop_sequence(client, model)
    abort(client, model, url)
    errors(client, model)
    print(f"anthropic {anthropic.__version__} (Python): models, plain, streamed, {rounds} tool rounds, count_tokens, structured, "
          "stop sequence, abort, errors ok")


if __name__ == "__main__":
    main()
