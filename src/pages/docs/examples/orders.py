# Lists the orders, or cancels the order with the given id. Waits after a 429.
# Save it as orders.py, and run it with: python3 orders.py [ORDER_ID]
import math
import os
import random
import sys
import time
from urllib.error import HTTPError
from urllib.request import Request, urlopen

ORDERS = "http://localhost:8787/v1/store/orders"
MAX_TRIES = 6
MAX_WAIT_SECONDS = 120


def request(method, url):
    headers = {"Authorization": "Bearer " + os.environ["KEY"]}
    for tries in range(1, MAX_TRIES + 1):
        try:
            return urlopen(Request(url, method=method, headers=headers))
        except HTTPError as error:
            problem = f"{error.code} {error.read().decode()}"
            can_retry = error.code == 429 or error.code >= 500
            if not can_retry or tries == MAX_TRIES:
                sys.exit(problem)

            # Without Retry-After, the wait doubles each time. Its random part is the jitter.
            backoff = random.uniform(0.5, 1) * 2**tries
            retry_after = error.headers.get("Retry-After", "")
            seconds = int(retry_after) if retry_after.isdecimal() else backoff
            if seconds > MAX_WAIT_SECONDS:
                sys.exit(f"{problem} Retry after {seconds:.0f} s.")
            print(f"{error.code}: next try in {math.ceil(seconds)} s", file=sys.stderr)
            time.sleep(seconds)


if len(sys.argv) > 1:
    with request("DELETE", f"{ORDERS}/{sys.argv[1]}") as response:
        print(f"Order {sys.argv[1]} is cancelled.")
else:
    with request("GET", ORDERS) as response:
        print(response.read().decode())
print(response.headers["X-RateLimit-Remaining"], "requests remain.")
