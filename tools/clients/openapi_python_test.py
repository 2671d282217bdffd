#!/usr/bin/env python3
"""/openapi.json of a running server is a valid OpenAPI document, and its schemas fit what is served.

usage: openapi_python_test.py URL
"""
import json
import sys
import urllib.request

import jsonschema
import openapi_spec_validator
from openapi_spec_validator import OpenAPIV31SpecValidator


def ask(url, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=120) as reply:
        return json.load(reply)


def main():
    url = sys.argv[1]
    document = ask(url + "/openapi.json")
    openapi_spec_validator.validate(document, cls=OpenAPIV31SpecValidator)
    messages = [{"role": "user", "content": "hi"}]
    checked = 0
    for path, body in (
            ("/v1/models", None), ("/health", None), ("/ready", None), ("/ping", None), ("/version", None),
            ("/v1/chat/completions", {"messages": messages, "max_tokens": 4, "logprobs": None}),
            ("/v1/completions", {"prompt": ["a", "b"], "max_tokens": 4, "logprobs": 1, "echo": True}),
            ("/anthropic/v1/models", None), ("/v1/responses/input_tokens", {"input": "hi"}),
            ("/invocations", {"prompt": [1, 2], "max_tokens": 1}),
            ("/tokenize", {"prompt": "hello", "return_token_strs": True}), ("/tokenize", {"messages": messages}),
            ("/detokenize", {"tokens": [1, 2, 3]}),
            ("/v1/tokenizers/estimate-token-count", {"messages": messages})):
        operation = document["paths"][path]["get" if body is None else "post"]
        schemas = [(operation["responses"]["200"], ask(url + path, body))]
        if body is not None:
            schemas.append((operation["requestBody"], body))
        for place, value in schemas:
            schema = {**place["content"]["application/json"]["schema"], "components": document["components"]}
            jsonschema.Draft202012Validator(schema).validate(value)
            checked += 1
    print(f"openapi-spec-validator: a valid OpenAPI {document['openapi']} document, {checked} bodies fit it")


if __name__ == "__main__":
    main()
