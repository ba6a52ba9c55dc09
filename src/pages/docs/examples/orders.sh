#!/bin/sh
# Lists the orders, or cancels the order with the given id.
# Tries again after a 429, 500, 502, 503 or 504.
# Save it as orders.sh, and run it with: sh orders.sh [ORDER_ID]
set -eu
ORDERS=http://localhost:8787/v1/store/orders
answer=$(mktemp -d)
trap 'rm -rf "$answer"' EXIT
trap 'exit 130' HUP INT PIPE TERM

# curl waits as Retry-After says, and prints for how long. Without that header it doubles its wait each time.
# It reads the key from standard input, because its arguments stand in the list of processes.
# The body goes to a file first, which holds the last answer only. The file of headers has those of all answers.
request() {
  expected=$1
  shift
  status=$(printf 'Authorization: Bearer %s' "$KEY" | curl --header @- \
    --no-progress-meter --retry 5 --retry-max-time 120 --write-out '%{http_code}' \
    --dump-header "$answer/headers" --output "$answer/body" "$@")
  # After a 5xx the order may be cancelled, although the answer did not say so.
  if [ "$status $expected" = "404 204" ] && grep -q '^HTTP/[^ ]* 5' "$answer/headers"; then return; fi
  if [ "$status" != "$expected" ]; then
    echo "$status $(cat "$answer/body")" >&2
    exit 1
  fi
}

if [ $# -gt 0 ]; then
  case $1 in *[!0-9-]*)
    echo "$1 is no order id." >&2
    exit 1
    ;;
  esac
  request 204 --request DELETE "$ORDERS/$1"
  if [ "$status" = 204 ]; then
    echo "Order $1 is cancelled."
  else
    echo "Order $1 is not in the list. An earlier try may have cancelled it."
  fi
else
  request 200 "$ORDERS"
  cat "$answer/body"
  echo
fi
remaining=$(tr -d '\r' < "$answer/headers" |
  grep -i '^x-ratelimit-remaining:' | tail -n 1 | cut -d ' ' -f 2)
echo "$remaining requests remain." >&2
