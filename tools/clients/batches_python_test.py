#!/usr/bin/env python3
"""The official Python package's files and batches against a running server.

usage: batches_python_test.py URL
"""
import io
import json
import sys
import time

import openai


def check(condition, what):
    if not condition:
        sys.exit(f"failed: {what}")


def request(custom_id, content, **more):
    body = {"messages": [{"role": "user", "content": content}], "max_tokens": 8, "temperature": 0, **more}
    return json.dumps({"custom_id": custom_id, "method": "POST", "url": "/v1/chat/completions", "body": body})


def upload(client, text):
    return client.files.create(file=("requests.jsonl", io.BytesIO(text.encode())), purpose="batch")


def wait(client, batch):
    for _ in range(1200):
        batch = client.batches.retrieve(batch.id)
        if batch.status in ("completed", "failed", "expired", "cancelled"):
            return batch
        time.sleep(0.05)
    sys.exit(f"failed: the batch stays {batch.status}")


def expect(error, make):
    try:
        make()
    except error as raised:
        check(raised.body and raised.body["message"], "an error message")
    else:
        sys.exit(f"failed: expected {error.__name__}")


def completed(client):
    text = "\n".join([request("one", "Hello!"), request("two", "Who are you?"), request("bad", "x", n=0)]) + "\n"
    file = upload(client, text)
    check(file.purpose == "batch" and file.bytes == len(text) and file.filename == "requests.jsonl", "the file")
    check(client.files.content(file.id).text == text, "its content")
    check(client.files.retrieve(file.id).id == file.id, "retrieve")
    batch = client.batches.create(input_file_id=file.id, endpoint="/v1/chat/completions", completion_window="24h",
                                  metadata={"name": "test"})
    check(batch.metadata == {"name": "test"} and batch.object == "batch", "the batch")
    batch = wait(client, batch)
    check(batch.status == "completed", f"status {batch.status}")
    counts = batch.request_counts
    check((counts.total, counts.completed, counts.failed) == (3, 2, 1), f"counts {counts}")
    answers = {line["custom_id"]: line for line in map(json.loads, client.files.content(batch.output_file_id).text.splitlines())}
    check(sorted(answers) == ["one", "two"], "the answers")
    plain = client.chat.completions.create(model="nano", messages=[{"role": "user", "content": "Who are you?"}],
                                           max_tokens=8, temperature=0)
    body = answers["two"]["response"]["body"]
    message = openai.types.chat.ChatCompletion.model_validate(body).choices[0].message
    check(message.model_dump() == plain.choices[0].message.model_dump(), "a batch answers as a request does")
    failed = json.loads(client.files.content(batch.error_file_id).text)
    check(failed["custom_id"] == "bad" and failed["response"]["status_code"] == 400, "the error line")
    check([b.id for b in client.batches.list(limit=1)][0] == batch.id, "list of batches")
    check(file.id in [f.id for f in client.files.list(purpose="batch")], "list of files")
    check(client.files.delete(file.id).deleted, "delete")
    expect(openai.NotFoundError, lambda: client.files.retrieve(file.id))


def others(client):
    file = upload(client, "\n".join(request(f"id{i}", "Hi", max_tokens=200, ignore_eos=True) for i in range(50)))
    batch = client.batches.create(input_file_id=file.id, endpoint="/v1/chat/completions", completion_window="24h")
    check(client.batches.cancel(batch.id).status == "cancelling", "cancelling")
    batch = wait(client, batch)
    check(batch.status == "cancelled" and batch.request_counts.failed > 0, "cancelled")
    expect(openai.BadRequestError, lambda: client.batches.cancel(batch.id))
    wrong = wait(client, client.batches.create(input_file_id=upload(client, "no json\n").id,
                                               endpoint="/v1/chat/completions", completion_window="24h"))
    check(wrong.status == "failed" and wrong.errors.data[0].line == 1, "a wrong input")
    expect(openai.BadRequestError, lambda: client.files.create(file=("x", b"x"), purpose="user_data"))
    expect(openai.NotFoundError, lambda: client.batches.retrieve("batch_0"))


def expiring(client):
    hour = {"anchor": "created_at", "seconds": 3600}
    file = client.files.create(file=("x", request("one", "Hi").encode()), purpose="batch", expires_after=hour)
    check(file.expires_at == file.created_at + 3600, "the end of a file")
    check(client.files.retrieve(file.id).expires_at == file.expires_at, "the end of a file, asked again")
    batch = wait(client, client.batches.create(input_file_id=file.id, endpoint="/v1/chat/completions",
                                               completion_window="24h", output_expires_after=hour))
    output = client.files.retrieve(batch.output_file_id)
    check(output.expires_at == output.created_at + 3600, "the end of an output")
    expect(openai.BadRequestError, lambda: client.files.create(
        file=("x", b"x"), purpose="batch", expires_after={"anchor": "created_at", "seconds": 60}))


def main(url):
    client = openai.OpenAI(base_url=url + "/v1", api_key="none", max_retries=0)
    completed(client)
    others(client)
    expiring(client)
    print(f"openai {openai.__version__}: files and batches work")


main(sys.argv[1])
