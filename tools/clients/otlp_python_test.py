#!/usr/bin/env python3
"""What a server exports over OTLP, read with the protocol's own messages, against what its API says.

usage: otlp_python_test.py DAYBREAK_BINARY MODEL
"""
import base64
import http.server
import json
import os
import signal
import subprocess
import sys
import threading
import urllib.request

from google.protobuf import json_format
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.metrics.v1.metrics_pb2 import AggregationTemporality
from opentelemetry.proto.trace.v1.trace_pb2 import Span

CANARY = "zebrafishcanary"
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = "00f067aa0ba902b7"


def check(condition, what):
    if not condition:
        sys.exit(f"failed: {what}")


class Collector(http.server.BaseHTTPRequestHandler):
    calls = []
    refuse = 1  # so many calls are refused first

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status = 503 if Collector.refuse > 0 else 200
        Collector.refuse -= 1
        if status == 200:
            Collector.calls.append((self.path, dict(self.headers), body))
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_):
        pass


def with_base64_ids(value):
    """OTLP writes ids in hexadecimal where protobuf's JSON has base64."""
    if isinstance(value, list):
        return [with_base64_ids(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {key: base64.b64encode(bytes.fromhex(item)).decode() if key in ("traceId", "spanId", "parentSpanId")
            else with_base64_ids(item) for key, item in value.items()}


def parsed(path, message):
    """All bodies sent to `path`; a field the protocol does not know is an error."""
    return [json_format.ParseDict(with_base64_ids(json.loads(body)), message())
            for called, _, body in Collector.calls if called == path]


def ask(url, path, body, **headers):
    headers = {"Content-Type": "application/json", **{k.replace("_", "-"): v for k, v in headers.items()}}
    with urllib.request.urlopen(urllib.request.Request(url + path, json.dumps(body).encode(), headers)) as reply:
        return reply.read().decode()


def attributes(item):
    out = {}
    for one in item.attributes:
        kind = one.value.WhichOneof("value")
        value = getattr(one.value, kind)
        out[one.key] = [v.string_value for v in value.values] if kind == "array_value" else value
    return out


def requests(url):
    """Sends some and returns their usages with the ids of their answers."""
    message = [{"role": "user", "content": f"Hello {CANARY}"}]
    usages = {}
    whole = json.loads(ask(url, "/v1/chat/completions", {"messages": message, "max_tokens": 30, "temperature": 0},
                           traceparent=f"00-{TRACE}-{PARENT}-01", authorization=f"Bearer {CANARY}"))
    usages[whole["id"]] = whole["usage"]
    stream = ask(url, "/v1/chat/completions", {"messages": message, "max_tokens": 20, "stream": True, "n": 2})
    chunks = [json.loads(line[6:]) for line in stream.splitlines() if line.startswith("data: {")]
    usages[chunks[-1]["id"]] = chunks[-1]["usage"]
    text = json.loads(ask(url, "/v1/completions", {"prompt": CANARY, "max_tokens": 5}))
    usages[text["id"]] = text["usage"]
    return usages


def check_spans(usages):
    spans = []
    for request in parsed("/v1/traces", ExportTraceServiceRequest):
        check(len(request.resource_spans) == 1, "one resource")
        resource = attributes(request.resource_spans[0].resource)
        check(resource["service.name"] == "nano-test" and resource["region"] == "eu west", f"resource {resource}")
        for scope in request.resource_spans[0].scope_spans:
            check(scope.scope.name == "daybreak", "the scope")
            spans.extend(scope.spans)
    servers = [span for span in spans if span.kind == Span.SPAN_KIND_SERVER]
    check(len(servers) == len(usages), f"{len(servers)} server spans")
    for span in servers:
        facts = attributes(span)
        usage = usages[facts["gen_ai.response.id"]]
        cached = facts["gen_ai.usage.cache_read.input_tokens"]
        details = usage.get("completion_tokens_details", {})
        check(facts["gen_ai.usage.input_tokens"] == usage["prompt_tokens"], f"input {facts} {usage}")
        check(facts["gen_ai.usage.output_tokens"] == usage["completion_tokens"], f"output {facts} {usage}")
        check(facts["gen_ai.usage.reasoning.output_tokens"] == details.get("reasoning_tokens", 0), f"reasoning {facts} {usage}")
        check(cached == usage.get("prompt_tokens_details", {}).get("cached_tokens", 0), f"cached {facts} {usage}")
        check(cached <= facts["gen_ai.usage.input_tokens"], "cached tokens are part of the input")
        check(len(span.trace_id) == 16 and len(span.span_id) == 8, "lengths of ids")
        check(0 < span.start_time_unix_nano < span.end_time_unix_nano, "times")
        parts = [part for part in spans if part.parent_span_id == span.span_id]
        choices = facts.get("gen_ai.request.choice.count", 1)
        check(sorted(part.name for part in parts) == sorted(["queue", "prefill", "decode"] * choices), "parts")
        check(all(part.trace_id == span.trace_id for part in parts), "one trace")
    ours = [span for span in servers if span.trace_id.hex() == TRACE]
    check(len(ours) == 1 and ours[0].parent_span_id.hex() == PARENT, "the caller's trace goes on")


def check_metrics(usages):
    last = parsed("/v1/metrics", ExportMetricsServiceRequest)[-1]
    metrics = {metric.name: metric for metric in last.resource_metrics[0].scope_metrics[0].metrics}
    check(sorted(metrics) == ["gen_ai.client.token.usage", "gen_ai.server.request.duration",
                              "gen_ai.server.time_per_output_token", "gen_ai.server.time_to_first_token"],
          f"metrics {sorted(metrics)}")
    for metric in metrics.values():
        check(metric.histogram.aggregation_temporality == AggregationTemporality.AGGREGATION_TEMPORALITY_CUMULATIVE,
              "cumulative")
        for point in metric.histogram.data_points:
            check(len(point.bucket_counts) == len(point.explicit_bounds) + 1, "buckets")
            check(sum(point.bucket_counts) == point.count and point.count > 0, "counts")
    sums = {"input": 0, "output": 0}
    for point in metrics["gen_ai.client.token.usage"].histogram.data_points:
        sums[attributes(point)["gen_ai.token.type"]] += point.sum
    check(sums["input"] == sum(u["prompt_tokens"] for u in usages.values()), f"input tokens {sums}")
    check(sums["output"] == sum(u["completion_tokens"] for u in usages.values()), f"output tokens {sums}")


def main():
    binary, model = sys.argv[1:]
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    environment = {**os.environ, "no_proxy": "127.0.0.1", "OTEL_SERVICE_NAME": "nano-test",
                   "OTEL_RESOURCE_ATTRIBUTES": "region=eu%20west", "OTEL_BSP_SCHEDULE_DELAY": "50",
                   "OTEL_EXPORTER_OTLP_HEADERS": "x-tenant=t1",
                   "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{server.server_port}"}
    daybreak = subprocess.Popen([binary, "serve", model, "--port", "0", "--threads", "1"], env=environment,
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        url = daybreak.stdout.readline().removeprefix("listening on ").strip()
        check(url, "the server does not start")
        usages = requests(url)
        daybreak.send_signal(signal.SIGTERM)
        check(daybreak.wait(60) == 0, "the end")
    finally:
        daybreak.kill()
    check_spans(usages)
    check_metrics(usages)
    for path, headers, body in Collector.calls:
        check(headers.get("x-tenant") == "t1", "headers are sent")
        check(CANARY.encode() not in body, f"content in {path}")
    print(f"{len(Collector.calls)} exports agree with the API")


if __name__ == "__main__":
    main()
