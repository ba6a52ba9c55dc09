#!/bin/sh
# Lists the orders, or cancels the order with the given id. Waits after a 429.
# Save it as orders.sh, and run it with: sh orders.sh [ORDER_ID]
set -eu
ORDERS=http://localhost:8787/v1/store/orders
answer=$(mktemp -d)
trap 'rm -rf "$answer"' EXIT

# curl waits as Retry-After says, and prints for how long. Without that header it doubles its wait each time.
# The body goes to a file first, which holds the last answer only.
request() {
  status=0
  curl --no-progress-meter --fail-with-body --retry 5 --retry-max-time 120 \
    --header "Authorization: Bearer $KEY" \
    --dump-header "$answer/headers" --output "$answer/body" "$@" || status=$?
  if [ -s "$answer/body" ]; then cat "$answer/body" && echo; fi
  return $status
}

if [ $# -gt 0 ]; then
  request --request DELETE "$ORDERS/$1"
  echo "Order $1 is cancelled."
else
  request "$ORDERS"
fi
remaining=$(tr -d '\r' < "$answer/headers" |
  grep -i '^x-ratelimit-remaining:' | tail -n 1 | cut -d ' ' -f 2)
echo "$remaining requests remain."
