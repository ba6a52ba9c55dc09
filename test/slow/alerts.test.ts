/** Alerts reach a receiver that takes one message a second, as Slack does, and answers the others with 429. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { it, onTestFinished } from "vitest";
import { startService } from "../support/service.ts";

it("21 alerts at once reach a receiver that takes one a second, within a minute", async ({ expect }) => {
  const accepted: { id: string; atMs: number }[] = [];
  let sent = 0;
  const receiver = createServer((request, response) => {
    sent++;
    const atMs = performance.now();
    const isTooSoon = atMs - (accepted.at(-1)?.atMs ?? Number.NEGATIVE_INFINITY) < 1_000;
    if (!isTooSoon) accepted.push({ id: String(request.headers["webhook-id"]), atMs });
    response.writeHead(isTooSoon ? 429 : 204, isTooSoon ? { "Retry-After": "1" } : {}).end();
  });
  await once(receiver.listen(0, "127.0.0.1"), "listening");
  const { port } = receiver.address() as AddressInfo; // it listens on a port
  onTestFinished(() => void receiver.close());
  // Without the cron of each minute, which only has to go on where Cloudflare ends a request's own work.
  const service = await startService({
    ALERT_WEBHOOK_URL: `http://127.0.0.1:${port}/`,
    ALERT_WEBHOOK_SECRET: `whsec_${btoa("a secret of the webhook, for tests")}`,
  });
  onTestFinished(() => service.close());
  const keys = await Promise.all(Array.from({ length: 21 }, () => service.createKey()));

  const startMs = performance.now();
  await Promise.all(
    keys.map(({ id }) => service.admin("PUT", `/keys/${id}/ban`, { seconds: 3_600, reason: "a burst" })),
  );
  await expect.poll(() => accepted.length, { timeout: 90_000, interval: 250 }).toBe(21);
  expect(new Set(accepted.map(({ id }) => id)).size).toBe(21);
  expect(performance.now() - startMs).toBeLessThan(60_000);
  // The burst itself is refused; after it, one alert is sent at a time.
  expect(sent).toBeLessThan(60);
  const { body } = await service.admin("GET", "/alerts");
  expect(body).toMatchObject({ receiver: { state: "ok", failing: 0 } });
  expect(body.alerts).toEqual(keys.map(() => expect.objectContaining({ attempts: 1, state: "delivered" })));
});
