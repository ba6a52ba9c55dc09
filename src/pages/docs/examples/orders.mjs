// Lists the orders, or cancels the order with the given id.
// Tries again after a 429, a 5xx and a lost connection.
// Save it as orders.mjs, and run it with: node orders.mjs [ORDER_ID]
const ORDERS = "http://localhost:8787/v1/store/orders";
const MAX_TRIES = 6;
const MAX_WAIT_SECONDS = 120;

// Blanks and line ends around the key, as a file can leave them, are removed.
const key = (process.env.KEY ?? "").trim();

async function send(method, url) {
  const headers = { Authorization: `Bearer ${key}` };
  try {
    const response = await fetch(url, { method, headers });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text };
  } catch (error) {
    const text = `No answer: ${error.cause?.message || error.message}`;
    return { status: 0, headers: new Headers(), text };
  }
}

async function request(method, url) {
  let mayBeDone = false;
  for (let tries = 1; ; tries++) {
    const answer = await send(method, url);
    const { status, headers, text } = answer;
    if (status === (method === "DELETE" ? 204 : 200)) return answer;
    if (status === 404 && mayBeDone) return answer;
    const hasFailed = status === 0 || status >= 500;
    const problem = status === 0 ? text : `${status} ${text}`;
    if (!(hasFailed || status === 429) || tries === MAX_TRIES)
      throw new Error(problem);
    // The order may be cancelled although the answer did not say so.
    mayBeDone ||= hasFailed && method === "DELETE";

    // Without Retry-After, the wait doubles each time. Its random part is the jitter.
    const backoff = (0.5 + Math.random() / 2) * 2 ** tries;
    const seconds = Number(headers.get("Retry-After")) || backoff;
    if (seconds > MAX_WAIT_SECONDS)
      throw new Error(`${problem} Retry after ${seconds} s.`);
    console.error(`${status || text}: next try in ${Math.ceil(seconds)} s`);
    await new Promise((done) => setTimeout(done, seconds * 1000));
  }
}

try {
  if (!/^\w+$/.test(key)) throw new Error("KEY is not an API key.");
  const [orderId] = process.argv.slice(2);
  const isCancel = orderId !== undefined;
  const { status, headers, text } = isCancel
    ? await request("DELETE", `${ORDERS}/${encodeURIComponent(orderId)}`)
    : await request("GET", ORDERS);
  if (!isCancel) console.log(text);
  else if (status === 204) console.log(`Order ${orderId} is cancelled.`);
  else
    console.log(
      `Order ${orderId} is not in the list. An earlier try may have cancelled it.`,
    );
  const remaining = headers.get("X-RateLimit-Remaining");
  console.error(`${remaining} requests remain.`);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
