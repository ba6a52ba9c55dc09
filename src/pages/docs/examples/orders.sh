#!/bin/sh
# Lists the orders, shows the remaining limit, and cancels the order with the given id:
#   KEY=sok_… sh orders.sh [ORDER_ID]
set -eu
BASE_URL=${BASE_URL:-http://localhost:8787/v1}
answer=$(mktemp)
trap 'rm -f "$answer"' EXIT

# Before a retry, curl waits for the time in Retry-After. Without that header, it doubles its wait each time.
request() {
  curl --silent --show-error --fail-with-body --retry 5 --retry-max-time 120 \
    --header "Authorization: Bearer $KEY" --dump-header "$answer" "$@"
}

request "$BASE_URL/store/orders"
echo
grep -i '^x-ratelimit-' "$answer"

if [ $# -gt 0 ]; then
  request --request DELETE "$BASE_URL/store/orders/$1"
  echo "Order $1 is cancelled."
fi
