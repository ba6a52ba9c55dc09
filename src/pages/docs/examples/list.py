# Save it as list.py, and run it with: python3 list.py
import os
from urllib.request import Request, urlopen

request = Request("http://localhost:8787/v1/store/orders")
# A redirect can lead to another host.
request.add_unredirected_header("Authorization", "Bearer " + os.environ["KEY"].strip())
with urlopen(request) as response:
    print(response.status, response.read().decode())
    print(response.headers["X-RateLimit-Remaining"], "requests remain")
