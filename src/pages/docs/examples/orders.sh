#!/bin/sh
# Lists the orders, shows the remaining limit, and cancels the order with the given id:
#   KEY=sok_… sh orders.sh [ORDER_ID]
set -eu
BASE_URL=${BASE_URL:-http://localhost:8787/v1}
answer=$(mktemp -d)
trap 'rm -rf "$answer"' EXIT

# Before a retry, curl waits for the time in Retry-After. Without that header, it doubles its wait each time.
# The body goes to a file first, which holds the last answer only.
request() {
  status=0
  curl --silent --show-error --fail-with-body --retry 5 --retry-max-time 120 \
    --header "Authorization: Bearer $KEY" --dump-header "$answer/headers" --output "$answer/body" "$@" || status=$?
  if [ -s "$answer/body" ]; then cat "$answer/body" && echo; fi
  return $status
}

# Of the last answer.
header() {
  tr -d '\r' < "$answer/headers" | grep -i "^$1:" | tail -n 1 | cut -d ' ' -f 2
}

request "$BASE_URL/store/orders"
echo "$(header x-ratelimit-remaining) of $(header x-ratelimit-limit) requests remain"

if [ $# -gt 0 ]; then
  request --request DELETE "$BASE_URL/store/orders/$1"
  echo "Order $1 is cancelled."
fi
