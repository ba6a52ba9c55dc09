# Save it as list.py, and run it with: python3 list.py
import os
import re
import sys
from urllib.request import Request, urlopen

key = os.environ.get("KEY", "").strip()
if not re.fullmatch(r"\w+", key, re.ASCII):
    sys.exit("KEY is not an API key.")

request = Request("http://localhost:8787/v1/store/orders")
# A redirect can lead to another host.
request.add_unredirected_header("Authorization", "Bearer " + key)
with urlopen(request, timeout=60) as response:
    print(response.status, response.read().decode())
    print(response.headers["X-RateLimit-Remaining"], "requests remain")
