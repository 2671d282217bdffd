#!/usr/bin/env bash
# Runs one client test against a fresh server on the bundled model.
# usage: run.sh openai|responses|anthropic|openapi|batches|retries|otlp|ai|schemathesis python|node|both DAYBREAK_BINARY
# Exits 77 (a visible skip in ctest) where the client package cannot be installed. The packages are
# kept in build/clients, so that only the first run needs a network.
set -euo pipefail
usage="run.sh openai|responses|anthropic|openapi|batches|retries|otlp|ai|schemathesis python|node|both DAYBREAK_BINARY"
protocol="$1"
client="$2"
binary="$(realpath "$3")"
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
cache="$here/../../build/clients"
mkdir -p "$cache"

skip() { echo "SKIPPED: $1" >&2; exit 77; }

install_python() {
  venv="$cache/venv"
  local requirements="$here/requirements.txt"
  # Its many dependencies stay away from those of the clients.
  [[ "$protocol" != schemathesis ]] || { venv="$cache/venv-schemathesis"; requirements="$here/requirements-schemathesis.txt"; }
  if ! [[ -x "$venv/bin/python" ]]; then
    python3 -m venv "$venv" >&2 || { rm -rf "$venv"; skip "python3 has no venv module"; }
  fi
  "$venv/bin/python" -m pip install -q --disable-pip-version-check -r "$requirements" >&2 ||
    skip "the client packages cannot be installed with pip"
}

install_node() {
  command -v npm >/dev/null || skip "no npm"
  mkdir -p "$cache/node"
  cp "$here/package.json" "$here/"*.mjs "$cache/node/"
  # The kept packages are those of these pins only: a changed pin installs again.
  local installed="$cache/node/node_modules/.daybreak-pins.json"
  cmp -s "$here/package.json" "$installed" ||
    (cd "$cache/node" && npm install --no-audit --no-fund --silent >&2 &&
     cp "$here/package.json" "$installed") ||
    skip "the client packages cannot be installed with npm"
}

case "$client" in
  python|both)
    install_python
    [[ "$client" != both ]] || install_node
    run=("$venv/bin/python" "$here/${protocol}_python_test.py")
    ;;
  node)
    install_node
    run=(node "$cache/node/${protocol}_node_test.mjs")
    ;;
  *) echo "usage: $usage" >&2; exit 2 ;;
esac

# These start their own servers, which have to know where to export to, or whom to serve.
case "$protocol" in
  otlp) exec "${run[@]}" "$binary" "$here/../../models/nano" ;;
  retries) exec "${run[@]}" "$binary" "$here/../../models/nano" "$cache/node" ;;
esac

out="$(mktemp)"
files="$(mktemp -d)"
extra=()
[[ "$protocol" != schemathesis ]] || {
  slots="$(mktemp -d -p "$files")" adapters="$(mktemp -d -p "$files")"
  extra=(--slot-save-path "$slots" --lora-dir "$adapters" --allow-runtime-lora-updating on)
}
"$binary" serve "$here/../../models/nano" --port 0 --threads 1 --files-dir "$files" "${extra[@]}" >"$out" 2>"$out.err" &
server=$!
trap 'kill -TERM $server 2>/dev/null || true; wait $server 2>/dev/null || true; rm -rf "$out" "$out.err" "$files"' EXIT
for _ in $(seq 600); do
  grep -q '^listening on ' "$out" && break
  kill -0 "$server" 2>/dev/null || { cat "$out.err" >&2; exit 1; }
  sleep 0.05
done
url="$(sed -n 's/^listening on //p' "$out")"
[[ -n "$url" ]] || { echo "the server did not start" >&2; cat "$out.err" >&2; exit 1; }
"${run[@]}" "$url"
