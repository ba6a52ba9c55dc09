/** The programs of the introduction. introduction.test.ts in test/slow and test/contract runs them. */

export const listPrograms = (baseUrl: string): string => `curl:

\`\`\`sh
curl --retry 5 --header "Authorization: Bearer $KEY" \\
  ${baseUrl}/store/orders
\`\`\`

JavaScript with [ky](https://www.npmjs.com/package/ky):

\`\`\`js
import ky from "ky";
const url = "${baseUrl}/store/orders";
const { KEY } = process.env;
const headers = { Authorization: "Bearer " + KEY };
console.log(await ky(url, { headers, retry: 5 }).text());
\`\`\`

Python with [urllib3](https://pypi.org/project/urllib3/):

\`\`\`python
import os
from urllib3 import PoolManager, Retry

url = "${baseUrl}/store/orders"
KEY = os.environ["KEY"]
headers = {"Authorization": "Bearer " + KEY}
retries = Retry(5, backoff_factor=1,
                status_forcelist=[429, 500, 503])
http = PoolManager(headers=headers, retries=retries)
print(http.request("GET", url).data.decode())
\`\`\`

<details><summary>JavaScript without packages</summary>

\`\`\`js
const url = "${baseUrl}/store/orders";
const { KEY } = process.env;
const headers = { Authorization: "Bearer " + KEY };

async function get(tries = 1) {
  const answer = await fetch(url, { headers });
  const isRefused = [429, 500, 503].includes(answer.status);
  if (!isRefused || tries === 5) return answer.text();
  // Without Retry-After: exponential backoff, with jitter.
  const wait = answer.headers.get("Retry-After") ?? 2 ** tries;
  const ms = (Number(wait) + Math.random()) * 1000;
  await new Promise((done) => setTimeout(done, ms));
  return get(tries + 1);
}

console.log(await get());
\`\`\`

</details>`;

export const cancelProgram = (baseUrl: string): string => `\`\`\`sh
ORDER=…
curl --include --request DELETE \\
  --header "Authorization: Bearer $KEY" \\
  ${baseUrl}/store/orders/$ORDER
\`\`\``;

export const exactPrograms = (
  baseUrl: string,
): string => `<details><summary>With openapi-fetch, in Node 22 or newer and current browsers</summary>

\`\`\`js
import createClient from "openapi-fetch";

const { KEY } = process.env;
const client = createClient({
  baseUrl: "${baseUrl}",
  headers: { Authorization: "Bearer " + KEY },
});
const { data } = await client.GET("/store/orders", {
  parseAs: "text",
});
const orders = JSON.parse(data, (name, value, { source }) =>
  /^(id|petId)$/.test(name) ? BigInt(source) : value,
);
console.log(orders[0].id);
\`\`\`

TypeScript's types lack the third argument: write \`...[{ source }]: any[]\` there.

</details>

<details><summary>With json-bigint, anywhere</summary>

Ids of up to 15 digits stay numbers.

\`\`\`js
import JSONbig from "json-bigint";

const url = "${baseUrl}/store/orders";
const { KEY } = process.env;
const headers = { Authorization: "Bearer " + KEY };
const answer = await fetch(url, { headers });
const { parse } = JSONbig({ useNativeBigInt: true });
console.log(parse(await answer.text())[0].id);
\`\`\`

</details>`;
