#!/usr/bin/env python3
"""Schemathesis over /openapi.json of a running server: whatever is sent, no 5xx; statuses, media types and answers are
those of the document, and what its schemas forbid is refused.

usage: schemathesis_python_test.py URL
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import urllib.request


CHECKS = ("not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,"
          "negative_data_rejection,unsupported_method")
# A list that is longer than its bound is 413; a slot or a file may also be looked for first.
CONFIG = "[checks]\nnegative_data_rejection.expected-statuses = [400, 404, 413]\n"


def get(url):
    with urllib.request.urlopen(url, timeout=60) as reply:
        return reply.read()


def main():
    url = sys.argv[1]
    paths = json.loads(get(url + "/openapi.json"))["paths"]
    del paths["/openapi.json"]  # it does not test where the document came from
    operations = sum(key in ("get", "put", "post", "delete", "patch") for item in paths.values() for key in item)
    command = [str(pathlib.Path(sys.executable).with_name("schemathesis")), "run", url + "/openapi.json",
               "--checks", CHECKS, "--phases", "coverage,fuzzing", "--max-examples", "5", "--seed", "1",
               "--generation-database", "none", "--no-shrink", "--continue-on-failure", "--request-timeout", "60",
               "--no-color", "--warnings", "off"]
    with tempfile.TemporaryDirectory() as place:  # it leaves files where it runs
        pathlib.Path(place, "schemathesis.toml").write_text(CONFIG, encoding="utf-8")
        done = subprocess.run(command, cwd=place, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{done.stdout}\nfailed: schemathesis ended with {done.returncode}")
    tested = re.search(r"Tested: (\d+)", done.stdout)
    cases = re.search(r"(\d+) generated, (\d+) passed", done.stdout)
    if not tested or int(tested.group(1)) != operations or not cases or int(cases.group(1)) < 10 * operations:
        sys.exit(f"{done.stdout}\nfailed: not all of the {operations} operations were tested")
    get(url + "/health")
    print(f"schemathesis: {operations} operations, {cases.group(1)} requests, no 5xx, all as documented")


if __name__ == "__main__":
    main()
