#!/usr/bin/env python3
"""The official Python package's Responses API against a running server: plain, streamed, parsed, tools, chains.

usage: responses_python_test.py URL
"""
import json
import sys
import typing

import openai
import pydantic


def check(condition, what):
    if not condition:
        sys.exit(f"failed: {what}")


def without_ids(response):
    """What two answers to the same request have in common."""
    out = response.model_dump(mode="json", warnings=False)
    for key in ("id", "created_at"):
        out.pop(key)
    out["usage"].pop("input_tokens_details")  # the second one may start from the first one's prompt
    for item in out["output"]:
        item.pop("id")
        item.pop("call_id", None)
    return out


def plain_and_streamed(client, model):
    options = {"model": model, "input": "Hello! Who are you?", "temperature": 0, "max_output_tokens": 48,
               "instructions": "Be brief.", "metadata": {"test": "yes"}}
    plain = client.responses.create(**options)
    # Every field the typed client knows has its type.
    openai.types.responses.Response.model_validate(plain.model_dump(warnings=False))
    check(plain.status in ("completed", "incomplete"), f"status {plain.status}")
    check(plain.usage.total_tokens == plain.usage.input_tokens + plain.usage.output_tokens, "usage")
    check(plain.metadata == {"test": "yes"} and plain.instructions == "Be brief.", "what is repeated")

    text, reasoning, last, kinds = "", "", None, []
    for number, event in enumerate(client.responses.create(**options, stream=True)):
        check(event.sequence_number == number, "dense sequence numbers")
        kinds.append(event.type)
        if event.type == "response.output_text.delta":
            text += event.delta
        elif event.type == "response.reasoning_text.delta":
            reasoning += event.delta
        last = event
    check(kinds[:2] == ["response.created", "response.in_progress"], kinds[:2])
    check(last.type == f"response.{plain.status}", last.type)
    check(without_ids(last.response) == without_ids(plain), "the streamed response equals the plain one")
    check(text == plain.output_text, "deltas of the text")
    check(reasoning == "".join(i.content[0].text for i in plain.output if i.type == "reasoning"), "of the reasoning")
    check(text or reasoning, "some text")


class Person(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid")
    name: typing.Annotated[str, pydantic.Field(max_length=12)]
    age: typing.Annotated[int, pydantic.Field(ge=0, le=150)]


def parsed(client, model):
    options = {"model": model, "input": "Answer.", "reasoning": {"effort": "none"}, "max_output_tokens": 400}
    for temperature in (0, 1):
        response = client.responses.parse(**options, temperature=temperature, text_format=Person)
        check(isinstance(response.output_parsed, Person), response.output_text)
    with client.responses.stream(**options, temperature=0, text_format=Person) as stream:
        for event in stream:
            if event.type == "response.output_text.done":
                check(isinstance(event.parsed, Person), event.text)
        check(isinstance(stream.get_final_response().output_parsed, Person), "the parsed stream")


WEATHER = {"type": "function", "name": "get_weather", "strict": True, "parameters": {
    "type": "object", "properties": {"city": {"type": "string", "maxLength": 20},
                                     "unit": {"enum": ["celsius", "fahrenheit"]}},
    "required": ["city", "unit"], "additionalProperties": False}}


def tools(client, model):
    """A loop of a tool, whose call the client makes up: the bundled model may not end its text before one."""
    options = {"model": model, "tools": [WEATHER], "temperature": 0, "max_output_tokens": 64}
    asked = [{"role": "user", "content": "Weather?"},
             {"type": "reasoning", "id": "rs_1", "summary": [], "content": [{"type": "reasoning_text", "text": "look"}]},
             {"type": "function_call", "call_id": "call_1", "name": "get_weather",
              "arguments": '{"city":"Oslo","unit":"celsius"}'},
             {"type": "function_call_output", "call_id": "call_1", "output": "3 degrees"}]
    response = client.responses.create(**options, input=asked)
    check(response.tools[0].name == "get_weather", "the tools are repeated")
    forced = client.responses.create(model=model, tools=[WEATHER], input="Weather?", reasoning={"effort": "none"},
                                     tool_choice={"type": "function", "name": "get_weather"}, temperature=0,
                                     parallel_tool_calls=False, max_output_tokens=400)
    calls = [item for item in forced.output if item.type == "function_call" and item.status == "completed"]
    check(forced.status == "incomplete" or len(calls) == 1, f"one call: {forced.output}")
    for call in calls:
        check(set(json.loads(call.arguments)) == {"city", "unit"}, call.arguments)


def kept(client, model):
    first = client.responses.create(model=model, input="one", max_output_tokens=16)
    check(client.responses.retrieve(first.id).output_text == first.output_text, "retrieve")
    items = client.responses.input_items.list(first.id)
    check([item.content[0].text for item in items] == ["one"], "input items")
    second = client.responses.create(model=model, input="two", previous_response_id=first.id, max_output_tokens=16)
    check(second.previous_response_id == first.id, "previous_response_id")
    check(second.usage.input_tokens > first.usage.input_tokens + 8, "the conversation is in the prompt")
    client.responses.delete(first.id)
    client.responses.create(model=model, input="three", previous_response_id=second.id, max_output_tokens=4)
    sealed = client.responses.create(model=model, input="q", store=False, include=["reasoning.encrypted_content"],
                                     max_output_tokens=16)
    check(sealed.output[0].encrypted_content, "encrypted_content")
    for make, error, words in (
            (lambda: client.responses.retrieve(first.id), openai.NotFoundError, first.id),
            (lambda: client.responses.create(model=model, input="q", previous_response_id=sealed.id),
             openai.NotFoundError, "previous_response_id"),
            (lambda: client.responses.create(model="no-such-model", input="q"), openai.NotFoundError, "model"),
            (lambda: client.responses.create(model=model, input="q", tools=[{"type": "web_search"}]),
             openai.BadRequestError, "tools[0].type"),
            (lambda: client.responses.create(model=model, input="q", background=True), openai.BadRequestError,
             "background")):
        try:
            make()
        except error as raised:
            check(words in raised.body["message"], raised.body)
        else:
            sys.exit(f"failed: expected {error.__name__} about {words}")


def counted(client, model):
    """What counting says is what the same request is billed, by the package if it has a method for it."""
    asked = {"model": model, "input": "Hello! Who are you?", "instructions": "Be short."}
    count = client.post("/responses/input_tokens", body=asked, cast_to=object)
    response = client.responses.create(**asked, max_output_tokens=8)
    check(count == {"object": "response.input_tokens", "input_tokens": response.usage.input_tokens}, count)
    try:
        client.responses.cancel(response.id)
        check(False, "a response that is complete is cancelled")
    except openai.BadRequestError as error:
        check(error.code == "unsupported", error.body)


def main():
    client = openai.OpenAI(base_url=sys.argv[1] + "/v1", api_key="none", max_retries=0, timeout=120)
    model = client.models.list().data[0].id
    plain_and_streamed(client, model)
    parsed(client, model)
    tools(client, model)
    kept(client, model)
    counted(client, model)
    print(f"openai {openai.__version__} (Python) responses: plain, streamed, parsed, tools, kept, counted, errors ok")


if __name__ == "__main__":
    main()
