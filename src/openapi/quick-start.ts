/** The programs of the document's quick start. test/e2e/quick-start.test.ts runs them as they stand. */

export const quickStart = (
  baseUrl: string,
): string => `Put your API key into the variable \`KEY\`. Each program lists the orders and cancels order 1. After a 429 each program waits for the time in \`Retry-After\`.

curl:

\`\`\`sh
curl --retry 5 --header "Authorization: Bearer $KEY" \\
  ${baseUrl}/store/orders
curl --retry 5 --header "Authorization: Bearer $KEY" \\
  --include --request DELETE \\
  ${baseUrl}/store/orders/1
\`\`\`

JavaScript (Node.js, as \`orders.mjs\`):

\`\`\`js
const orders = "${baseUrl}/store/orders";
const { KEY } = process.env;
const headers = { Authorization: "Bearer " + KEY };

async function request(method, url, tries = 1) {
  const answer = await fetch(url, { method, headers });
  const { status } = answer;
  if (![429, 500, 503].includes(status) || tries === 5)
    return [status, await answer.text()];
  // Without Retry-After: exponential backoff, with jitter.
  const wait = answer.headers.get("Retry-After") ?? 2 ** tries;
  const ms = (Number(wait) + Math.random()) * 1000;
  await new Promise((done) => setTimeout(done, ms));
  return request(method, url, tries + 1);
}

console.log(await request("GET", orders));
console.log(await request("DELETE", orders + "/1"));
\`\`\`

Python:

\`\`\`python
import os, random, time
from urllib.error import HTTPError
from urllib.request import Request, urlopen

ORDERS = "${baseUrl}/store/orders"
HEADERS = {"Authorization": "Bearer " + os.environ["KEY"]}

def request(method, url, tries=1):
    try:
        with urlopen(Request(url, None, HEADERS, method=method)) as answer:
            return answer.status, answer.read().decode()
    except HTTPError as error:
        if error.code not in (429, 500, 503) or tries == 5:
            return error.code, error.read().decode()
        # Without Retry-After: exponential backoff, with jitter.
        wait = int(error.headers.get("Retry-After", 2**tries))
    time.sleep(wait + random.random())
    return request(method, url, tries + 1)

print(request("GET", ORDERS), request("DELETE", ORDERS + "/1"))
\`\`\``;
