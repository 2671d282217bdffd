#!/usr/bin/env bash
# Starts `daybreak serve` on the bundled model, sends one chat request, prints the streamed answer
# with its time, and keeps serving until Ctrl-C or SIGTERM.
# usage: first_request.sh [--once] [--check] [PORT]   (--once: stop after the answer; --check: arguments only)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

once=0
check=0
port=8000
while (($#)); do
  case "$1" in
    --once) once=1 ;;
    --check) check=1 ;;
    --port) port="${2:-}"; shift ;;
    *) port="$1" ;;
  esac
  shift || true
done
if ! [[ $port =~ ^[0-9]{1,5}$ ]] || ((port > 65535)); then
  echo "usage: ./dev run [PORT]   (a port from 0 to 65535, default 8000; found '$port')" >&2
  exit 2
fi
if ((check)); then exit 0; fi
log="$(mktemp)"
build/release/daybreak serve models/nano --port "$port" >"$log" 2>"$log.err" &
server=$!
trap 'kill -TERM $server 2>/dev/null; wait $server 2>/dev/null; rm -f "$log" "$log.err"' EXIT
trap 'exit 143' TERM
trap 'exit 130' INT

for _ in $(seq 200); do
  grep -q '^listening on ' "$log" && break
  kill -0 "$server" 2>/dev/null || { cat "$log.err" >&2; exit 1; }
  sleep 0.05
done
url="$(sed -n 's/^listening on //p' "$log")"
[[ -n "$url" ]] || { echo "error: the server did not start within 10 s" >&2; cat "$log.err" >&2; exit 1; }
echo "listening on $url"

question='Hello! Who are you?'
model="$(curl -sf "$url/v1/models" | sed -n 's/.*"id":"\([^"]*\)".*/\1/p' | head -n 1)"
echo "POST $url/v1/chat/completions  {\"model\":\"$model\",\"messages\":[{\"role\":\"user\",\"content\":\"$question\"}],\"stream\":true}"

dim=''; plain=''
if [[ -t 1 ]]; then dim=$'\033[2m'; plain=$'\033[0m'; fi
start=$(date +%s%N)
first=''
shown=''
# One SSE frame a line; a JSON string may hold any escaped character.
string='"(([^"\\]|\\.)*)"'
while IFS= read -r line; do
  if [[ $line =~ \"error\":\{\"message\":$string ]]; then echo "error: ${BASH_REMATCH[1]}" >&2; exit 1; fi
  if [[ $line =~ \"reasoning_content\":$string ]]; then text="${BASH_REMATCH[1]}"; kind=thinking; style="$dim"
  elif [[ $line =~ \"content\":$string ]]; then text="${BASH_REMATCH[1]}"; kind=answer; style="$plain"
  else continue; fi
  [[ -n $text ]] || continue
  [[ -n $first ]] || first=$(($(date +%s%N) - start))
  # Thinking is dimmed on a terminal; the answer starts on a line of its own.
  if [[ -n $shown && $shown != "$kind" ]]; then printf '\n'; fi
  if [[ $shown != "$kind" ]]; then printf '%s' "$style"; fi
  shown="$kind"
  printf '%b' "${text//\\\//\/}"
done < <(curl -sN "$url/v1/chat/completions" -H 'Content-Type: application/json' \
  -d "{\"model\":\"$model\",\"messages\":[{\"role\":\"user\",\"content\":\"$question\"}],\"stream\":true,\"max_tokens\":256,\"temperature\":0}")
total=$(($(date +%s%N) - start))
printf '%s\n' "$plain"
[[ -n $first ]] || { echo "error: no answer came" >&2; cat "$log.err" >&2; exit 1; }
printf 'first token after %d ms, whole answer after %d ms\n' $((first / 1000000)) $((total / 1000000))
if ((once)); then exit 0; fi
echo "still serving on $url (Ctrl-C stops it), one log line per request:"
tail -n 0 -f "$log.err" --pid "$server" &
wait "$server"
