// Lists the orders, or cancels the order with the given id. Waits after a 429.
// Save it as orders.mjs, and run it with: node orders.mjs [ORDER_ID]
const ORDERS = "http://localhost:8787/v1/store/orders";
const MAX_TRIES = 6;
const MAX_WAIT_SECONDS = 120;

async function request(method, url) {
  const headers = { Authorization: `Bearer ${process.env.KEY}` };
  for (let tries = 1; ; tries++) {
    const response = await fetch(url, { method, headers });
    const { status } = response;
    if (status === (method === "DELETE" ? 204 : 200)) return response;
    const problem = `${status} ${await response.text()}`;
    const canRetry = status === 429 || status >= 500;
    if (!canRetry || tries === MAX_TRIES) throw new Error(problem);

    // Without Retry-After, the wait doubles each time. Its random part is the jitter.
    const backoff = (0.5 + Math.random() / 2) * 2 ** tries;
    const seconds = Number(response.headers.get("Retry-After")) || backoff;
    if (seconds > MAX_WAIT_SECONDS)
      throw new Error(`${problem} Retry after ${seconds} s.`);
    console.error(`${status}: next try in ${Math.ceil(seconds)} s`);
    await new Promise((done) => setTimeout(done, seconds * 1000));
  }
}

try {
  const [orderId] = process.argv.slice(2);
  const response = orderId
    ? await request("DELETE", `${ORDERS}/${orderId}`)
    : await request("GET", ORDERS);
  console.log(
    orderId ? `Order ${orderId} is cancelled.` : await response.text(),
  );
  console.log(
    `${response.headers.get("X-RateLimit-Remaining")} requests remain.`,
  );
} catch (error) {
  console.error(error.cause ?? error.message);
  process.exitCode = 1;
}
