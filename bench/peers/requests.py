# SPDX-License-Identifier: Apache-2.0
"""Requests per second beside nginx's static reply and beside the LiteLLM proxy: one client (wrk), runs alternating.

    python3 bench/peers/requests.py --daybreak build/release/daybreak [--litellm VENV/bin/litellm] [--rounds N]

Needs wrk and nginx. LiteLLM 1.108.7 with its proxy is installed by hand in a virtual environment elsewhere; it answers by
itself (mock_response), so what is measured is its own work alone. The row beside it is daybreak with a scripted token
(`daybreak bench server`): the same chat is parsed, rendered, tokenized and answered, and no model is computed.
"""

import argparse
import json
import os
import pathlib
import re
import secrets
import signal
import socket
import statistics
import subprocess
import tempfile
import time
import urllib.request

TICK = os.sysconf("SC_CLK_TCK")
BODY = {"model": "scripted", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 1}
NGINX = """worker_processes {cpus}; daemon off; pid {dir}/pid;
events {{ worker_connections 1024; }}
http {{ access_log off; keepalive_requests 100000000; client_body_temp_path {dir}/b; proxy_temp_path {dir}/p;
  fastcgi_temp_path {dir}/f; uwsgi_temp_path {dir}/u; scgi_temp_path {dir}/s;
  server {{ listen 127.0.0.1:{port};
    location / {{ default_type application/json; return 200 '{{"status":"ok"}}'; }} }} }}
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A server in a process group of its own, until close()."""

    def __init__(self, command, port, path, environment=None):
        self.port = port
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        start_new_session=True, env={**os.environ, **(environment or {})})  # fmt: skip
        try:
            self.wait_until_ready(path)
        except BaseException:  # also an interruption: the group would outlive this program
            self.close()
            raise

    def wait_until_ready(self, path):
        for _ in range(600):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=1).read()
                return
            except OSError:
                if self.process.poll() is not None:
                    break
                time.sleep(0.1)
        raise SystemExit(f"{self.process.args[0]}: did not start")

    def cpu_seconds(self):
        """Of all processes of the group."""
        total = 0
        for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[2]) == self.process.pid:
                total += int(fields[11]) + int(fields[12])
        return total / TICK

    def close(self):
        try:
            os.killpg(self.process.pid, signal.SIGTERM)
        except ProcessLookupError:
            pass
        self.process.wait()


def run(server, path, connections, seconds, script=None):
    """Returns requests per second and the server's CPU milliseconds per request."""
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", f"http://127.0.0.1:{server.port}{path}"]
    before = server.cpu_seconds()
    text = subprocess.run(command + (["-s", script] if script else []), capture_output=True, text=True, check=True).stdout
    used = server.cpu_seconds() - before
    if "Non-2xx" in text or "Socket errors" in text:
        raise SystemExit(f"{path}: not every request was answered:\n{text}")
    count = int(re.search(r"(\d+) requests in", text)[1])
    return float(re.search(r"Requests/sec:\s*([\d.]+)", text)[1]), 1000 * used / count


def start(options, directory):
    """Returns the rows to measure: name, server, path, connections, script."""
    cpus = len(os.sched_getaffinity(0))
    key = "sk-" + secrets.token_hex(16)
    (directory / "post.lua").write_text(
        'wrk.method = "POST"\nwrk.headers["Content-Type"] = "application/json"\n'
        f'wrk.headers["Authorization"] = "Bearer {key}"\nwrk.body = {json.dumps(json.dumps(BODY))}\n'
    )
    script = str(directory / "post.lua")
    port = free_port()
    (directory / "nginx.conf").write_text(NGINX.format(cpus=cpus, dir=directory, port=port))
    options.servers.append(Server(["nginx", "-e", "stderr", "-c", str(directory / "nginx.conf")], port, "/"))
    rows = [("nginx, static reply", options.servers[-1], "/", 32, None)]
    port = free_port()
    daybreak = str(options.daybreak.resolve())
    serve = [daybreak, "serve", "--port", str(port), "--served-model-name", "scripted", "--log-level", "warning"]
    options.servers.append(Server(serve, port, "/health"))
    rows.append(("daybreak, `/health`", options.servers[-1], "/health", 32, None))
    rows.append(("daybreak, chat, 1 token of nano", options.servers[-1], "/v1/chat/completions", 8, script))
    port = free_port()
    options.servers.append(Server([daybreak, "bench", "server", "--port", str(port)], port, "/health"))
    rows.append(("daybreak, chat, 1 scripted token", options.servers[-1], "/v1/chat/completions", 8, script))
    if options.litellm:
        port = free_port()
        (directory / "litellm.yaml").write_text(
            "model_list:\n  - model_name: scripted\n    litellm_params:\n"
            "      {model: openai/scripted, api_key: none, mock_response: ok}\n"
        )
        command = [str(options.litellm), "--config", str(directory / "litellm.yaml"), "--host", "127.0.0.1", "--port", str(port)]
        environment = {"LITELLM_MASTER_KEY": key, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
        options.servers.append(Server(command + ["--num_workers", str(cpus)], port, "/health/liveliness", environment))
        rows.append(("LiteLLM, chat, mock", options.servers[-1], "/v1/chat/completions", 8, script))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--daybreak", type=pathlib.Path, required=True)
    parser.add_argument("--litellm", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=4)
    options = parser.parse_args()
    options.servers = []
    print(f"load average {os.getloadavg()[0]:.1f}, {len(os.sched_getaffinity(0))} CPUs, shared with the client", flush=True)
    with tempfile.TemporaryDirectory() as directory:
        try:
            rows = start(options, pathlib.Path(directory))
            found = {row[0]: [] for row in rows}
            for _ in range(options.rounds):
                for name, server, path, connections, script in rows:
                    found[name].append(run(server, path, connections, options.seconds, script))
        finally:
            for server in options.servers:
                server.close()
    print("| | requests/s, median | lowest | highest | server's CPU ms per request |\n|---|---|---|---|---|")
    for name, values in found.items():
        rates = sorted(rate for rate, _ in values)
        cpu = statistics.median(cpu for _, cpu in values)
        print(f"| {name} | {statistics.median(rates):,.0f} | {rates[0]:,.0f} | {rates[-1]:,.0f} | {cpu:.3f} |")


if __name__ == "__main__":
    main()
