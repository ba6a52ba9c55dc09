# Lists the orders, or cancels the order with the given id.
# Tries again after a 429, a 5xx and a lost connection.
# Save it as orders.py, and run it with: python3 orders.py [ORDER_ID]
import math
import os
import random
import re
import sys
import time
from http.client import HTTPException
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import Request, urlopen

ORDERS = "http://localhost:8787/v1/store/orders"
MAX_TRIES = 6
MAX_WAIT_SECONDS = 120
# urlopen alone waits without an end if a connection is lost without a sign.
SILENCE_SECONDS = 60

# Blanks and line ends around the key, as a file can leave them, are removed.
KEY = os.environ.get("KEY", "").strip()
if not re.fullmatch(r"\w+", KEY, re.ASCII):
    sys.exit("KEY is not an API key.")


def open_url(request):
    try:
        return urlopen(request, timeout=SILENCE_SECONDS)
    except HTTPError as error:
        return error  # a response, too


def send(method, url):
    request = Request(url, method=method)
    # A redirect can lead to another host.
    request.add_unredirected_header("Authorization", "Bearer " + KEY)
    try:
        with open_url(request) as response:
            return response.status, response.headers, response.read().decode(errors="replace")
    except (OSError, HTTPException) as error:
        return 0, {}, f"No answer: {error}"


def request(method, url):
    may_be_done = False
    for tries in range(1, MAX_TRIES + 1):
        status, headers, text = send(method, url)
        if status == (204 if method == "DELETE" else 200):
            return status, headers, text
        if status == 404 and may_be_done:
            return status, headers, text
        has_failed = status == 0 or status >= 500
        problem = f"{status} {text}" if status else text
        if not (has_failed or status == 429) or tries == MAX_TRIES:
            sys.exit(problem)
        # The order may be cancelled although the answer did not say so.
        may_be_done = may_be_done or (has_failed and method == "DELETE")

        # Without Retry-After, the wait doubles each time. Its random part is the jitter.
        backoff = random.uniform(0.5, 1) * 2**tries
        retry_after = headers.get("Retry-After", "")
        seconds = int(retry_after) if retry_after.isdecimal() else backoff
        if seconds > MAX_WAIT_SECONDS:
            sys.exit(f"{problem} Retry after {seconds:.0f} s.")
        print(f"{status or text}: next try in {math.ceil(seconds)} s", file=sys.stderr)
        time.sleep(seconds)


if len(sys.argv) > 1:
    status, headers, _ = request("DELETE", f"{ORDERS}/{quote(os.fsencode(sys.argv[1]), safe='')}")
    if status == 204:
        print(f"Order {sys.argv[1]} is cancelled.")
    else:
        print(f"Order {sys.argv[1]} is not in the list. An earlier try may have cancelled it.")
else:
    _, headers, text = request("GET", ORDERS)
    print(text)
print(headers["X-RateLimit-Remaining"], "requests remain.", file=sys.stderr)
