#!/usr/bin/env python3
"""When a server is busy, too slow, going or gone: what the official packages of Python and npm, and the AI SDK, then do.

usage: retries_python_test.py DAYBREAK_BINARY MODEL NODE_DIRECTORY
"""
import json
import pathlib
import re
import signal
import socket
import socketserver
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

import anthropic
import openai


def check(condition, what):
    if not condition:
        sys.exit(f"failed: {what}")


def eventually(condition, what):
    for _ in range(1200):
        if condition():
            return
        time.sleep(0.05)
    check(False, what)


class Server:
    """`daybreak serve` with these options; where it is, and what it counts."""

    def __init__(self, binary, model, *options):
        self.process = subprocess.Popen([binary, "serve", model, "--port", "0", "--threads", "1", *options],
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.url = self.process.stdout.readline().removeprefix("listening on ").strip()
        check(self.url.startswith("http"), "the server starts")

    def count(self, name):
        with urllib.request.urlopen(self.url + "/metrics") as reply:
            return sum(int(float(value)) for value in re.findall(rf"^{name} (\S+)$", reply.read().decode(), re.M))

    def submitted(self):
        return self.count(r"daybreak_engine_requests_submitted_total{.*}")

    def replayed(self):
        return self.count("daybreak_replayed_answers_total")

    def running(self):
        return self.count(r"vllm:num_requests_running{.*}")

    def aborted(self):
        return self.count(r'vllm:request_success_total{.*finished_reason="abort".*}')

    def answered(self, status):
        return self.count(rf'daybreak_http_requests_total{{.*code="{status}".*}}')

    def hold(self, key):
        """An endless stream that has begun; close it to end it."""
        body = {"messages": [{"role": "user", "content": "hi"}], "stream": True, "ignore_eos": True, "max_tokens": 30000}
        stream = urllib.request.urlopen(urllib.request.Request(
            self.url + "/v1/chat/completions", json.dumps(body).encode(),
            {"Authorization": "Bearer " + key, "Content-Type": "application/json"}))
        stream.readline()
        return stream


# A client answers call(url, key, prompt, retries, timeout) with a status, 0 for none; leave(...) reads the first part of a
# stream, and then no more.
class OpenAi:
    name = f"openai {openai.__version__} (Python)"
    retried_as_one = True
    obeys_no = True
    endless = True

    @staticmethod
    def client(url, key, retries, timeout):
        return openai.OpenAI(base_url=url + "/v1", api_key=key, max_retries=retries, timeout=timeout)

    def call(self, url, key, prompt, retries, timeout=120):
        try:
            self.client(url, key, retries, timeout).chat.completions.create(
                model="nano", messages=[{"role": "user", "content": prompt}], max_completion_tokens=4)
            return 200
        except openai.APIStatusError as error:
            return error.status_code
        except openai.APIConnectionError:
            return 0

    def leave(self, url, key):
        with self.client(url, key, 0, 120).chat.completions.create(
                model="nano", messages=[{"role": "user", "content": "hi"}], max_completion_tokens=30000, stream=True,
                extra_body={"ignore_eos": True}) as stream:
            next(iter(stream))


class Anthropic:
    name = f"anthropic {anthropic.__version__} (Python)"
    retried_as_one = True
    obeys_no = True
    endless = False  # this protocol has no field for answers of a certain length

    @staticmethod
    def client(url, key, retries, timeout):
        return anthropic.Anthropic(base_url=url, api_key=key, max_retries=retries, timeout=timeout)

    def call(self, url, key, prompt, retries, timeout=120):
        try:
            self.client(url, key, retries, timeout).messages.create(
                model="nano", messages=[{"role": "user", "content": prompt}], max_tokens=4)
            return 200
        except anthropic.APIStatusError as error:
            return error.status_code
        except anthropic.APIConnectionError:
            return 0

    def leave(self, url, key):
        with self.client(url, key, 0, 120).messages.stream(
                model="nano", messages=[{"role": "user", "content": "hi"}], max_tokens=4000) as stream:
            next(iter(stream))


class Node:
    """A package of npm, in a process of its own."""

    def __init__(self, directory, package):
        self.name = package + " (npm)"
        self.retried_as_one = package != "ai"  # which says nothing of its being a retry
        self.obeys_no = package != "ai"  # which looks at the status only
        self.endless = package != "@anthropic-ai/sdk"
        self.command = ["node", str(pathlib.Path(directory, "retries_client.mjs")), package]

    def ask(self, what, url, key, prompt, retries, timeout):
        done = subprocess.run([*self.command, what, url, key, str(retries), str(int(timeout * 1000))], input=prompt,
                              capture_output=True, text=True, timeout=300, check=False)
        check(done.returncode == 0, f"{self.name}: {done.stderr}")
        return int(done.stdout)

    def call(self, url, key, prompt, retries, timeout=120):
        return self.ask("call", url, key, prompt, retries, timeout)

    def leave(self, url, key):
        check(self.ask("leave", url, key, "hi", 0, 120) == 200, f"{self.name}: a stream begins")


class Front:
    """In front of a server: drops the first connection with a request once the server works at it, passes on the others."""

    def __init__(self, server):
        front = self
        self.asked = 0
        started = server.submitted()
        address = urllib.parse.urlsplit(server.url)

        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                head = self.request.recv(65536)
                if not head:
                    return
                front.asked += 1
                with socket.create_connection((address.hostname, address.port)) as behind:
                    behind.sendall(head)
                    up = threading.Thread(target=front.copy, args=(self.request, behind), daemon=True)
                    up.start()
                    if front.asked == 1:
                        eventually(lambda: server.submitted() > started, "the first try arrives")
                    else:
                        front.copy(behind, self.request)
                    for one in (self.request, behind):
                        try:
                            one.shutdown(socket.SHUT_RDWR)
                        except OSError:
                            pass  # the other side was faster
                    up.join()

        socketserver.ThreadingTCPServer.daemon_threads = True
        self.listener = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.listener.server_address[1]}"
        threading.Thread(target=self.listener.serve_forever, daemon=True).start()

    @staticmethod
    def copy(source, target):
        try:
            while data := source.recv(65536):
                target.sendall(data)
        except OSError:
            pass

    def close(self):
        self.listener.shutdown()
        self.listener.server_close()


def long_prompt(tokens):
    return f"{time.monotonic_ns()} " + "hello " * tokens  # new each time, so that nothing of it is kept


def waits_as_told(client, server, key):
    """429 from a key that may do one thing at a time: the client comes back after Retry-After, and is answered."""
    before = server.answered(429)
    status = []
    with server.hold(key):
        began = time.monotonic()
        asking = threading.Thread(target=lambda: status.append(client.call(server.url, key, "hi", 8)))
        asking.start()
        eventually(lambda: server.answered(429) > before, f"{client.name}: is refused")
    asking.join()
    refused = server.answered(429) - before
    check(status == [200], f"{client.name}: is answered after 429, got {status}")
    check(time.monotonic() - began >= 0.9 * refused, f"{client.name}: waits a second after each of {refused} refusals")


def gives_up(client, server, key):
    """429 of a spent quota, with x-should-retry: false."""
    before = server.answered(429)
    retries = 3 if client.obeys_no else 1
    check(client.call(server.url, key, "hi", retries) == 429, f"{client.name}: hears of the quota")
    tries = 1 if client.obeys_no else 1 + retries
    eventually(lambda: server.answered(429) == before + tries, f"{client.name}: asks {tries} times for what is spent")


def prompt_that_takes_seconds(client, server, key):
    tokens, took = 512, 0
    while took < 2 and tokens < 30000:
        tokens *= 2
        began = time.monotonic()
        check(client.call(server.url, key, long_prompt(tokens), 0, 600) == 200, f"{client.name}: a long prompt")
        took = time.monotonic() - began
    return tokens, took


def one_prefill(client, server, key, tokens, took):
    """A time-out and its retries cost one prefill."""
    for parts in (2, 3, 4):  # the machine may be faster than when `took` was measured: then nothing timed out
        submitted, replayed = server.submitted(), server.replayed()
        check(client.call(server.url, key, long_prompt(tokens), 6, took / parts) == 200, f"{client.name}: a retry is answered")
        check(server.submitted() == submitted + 1, f"{client.name}: a time-out costs one prefill")
        time.sleep(0.2)  # counted a moment after the client has its answer
        if server.replayed() == replayed + 1:
            return
    check(False, f"{client.name}: the retry gets the first try's answer")


def dropped(client, server, key, tokens):
    """The connection breaks before the answer."""
    front = Front(server)
    submitted = server.submitted()
    check(client.call(front.url, key, long_prompt(tokens), 3) == 200, f"{client.name}: asks again on another connection")
    check(front.asked == 2, f"{client.name}: asks twice, not {front.asked} times")
    cost = server.submitted() - submitted
    check(cost == (1 if client.retried_as_one else 2), f"{client.name}: a broken connection costs {cost} prefills")
    front.close()


def leaves(client, server, key):
    aborted = server.aborted()
    client.leave(server.url, key)
    eventually(lambda: server.running() == 0, f"{client.name}: a stream that is left frees its slot")
    if client.endless:
        check(server.aborted() == aborted + 1, f"{client.name}: a stream ends where it is left")


def while_draining(clients, server, key):
    held = server.hold(key)
    server.process.send_signal(signal.SIGTERM)

    def going():
        try:
            urllib.request.urlopen(server.url + "/ready").close()
            return False
        except urllib.error.HTTPError as error:
            return error.code == 503

    ready_was_503 = server.answered(503) + 1
    eventually(going, "the server is going")
    # A client has its answer a moment before the server counts it.
    eventually(lambda: server.answered(503) == ready_was_503, "the answer of /ready is counted")
    for client in clients:
        before = server.answered(503)
        check(client.call(server.url, key, "hi", 1) == 503, f"{client.name}: hears that the server is going")
        eventually(lambda before=before: server.answered(503) == before + 2, f"{client.name}: asks again, once")
    held.close()
    check(server.process.wait(timeout=120) == 0, "the server ends when its last stream has")


def main():
    binary, model, node = sys.argv[1:]
    clients = [OpenAi(), Anthropic(), *(Node(node, name) for name in ("openai", "@anthropic-ai/sdk", "ai"))]
    with tempfile.TemporaryDirectory() as place:
        database = place + "/access.db"

        def key(*limits):
            made = subprocess.run([binary, "keys", "create", "--db", database, "--name", "a", "--json", *limits],
                                  check=True, capture_output=True, text=True)
            return json.loads(made.stdout)["key"]

        free, one, spent = key(), key("--concurrency", "1"), key("--tokens-per-day", "200")
        # The packages wait up to eight seconds before they ask again.
        server = Server(binary, model, "--access-db", database, "--retry-grace-seconds", "20", "--drain-seconds", "120")
        try:
            tokens, took = prompt_that_takes_seconds(clients[0], server, free)
            spending = iter(lambda: clients[0].call(server.url, spent, "hi", 0), 429)
            check(set(spending) == {200}, "a quota lets through what it has room for")
            for client in clients:
                waits_as_told(client, server, one)
                gives_up(client, server, spent)
                if client.retried_as_one:
                    one_prefill(client, server, free, tokens, took)
                dropped(client, server, free, tokens)
                leaves(client, server, one)
            while_draining(clients, server, free)
        finally:
            server.process.kill()
    print(f"{', '.join(client.name for client in clients)}: 429, quotas, time-outs, broken connections, abort, drain ok")


if __name__ == "__main__":
    main()
