/** Requests of one isolate that share lookups, while the requests whose I/O these are end or are cancelled (ADR-24). */
import { randomBytes } from "node:crypto";
import { Agent, type ClientRequest, request } from "node:http";
import { Socket } from "node:net";
import { afterAll, beforeAll, describe, it } from "vitest";
import { mintKey } from "../../src/worker/auth/key-format.ts";
import { buildWorker, type FaultService, insertKey, startFaultService } from "../faults/service.ts";

/**
 * V8 optimises a function after a few calls instead of some thousands. Optimised code loses to which request a promise belongs, and
 * vitest's own workerd never knows it (`no_handle_cross_request_promise_resolution`).
 */
const V8_FLAGS = "--invocation-count-for-maglev=5";

const agent = new Agent({ keepAlive: true });
let service: FaultService;
beforeAll(async () => {
  process.env.MINIFLARE_WORKERD_V8_FLAGS = V8_FLAGS;
  service = await startFaultService(await buildWorker(), {
    ...{ isolates: 1, hasRealTimers: true, hasSlowReads: true },
  });
  delete process.env.MINIFLARE_WORKERD_V8_FLAGS;
});
afterAll(async () => {
  agent.destroy();
  await service.close();
});

const newKey = () => mintKey((byteCount) => randomBytes(byteCount));

/** A key that has not been used. */
async function storeKey(): Promise<string> {
  const key = newKey();
  const limits = { plan: "business", perMinute: null, perDay: null };
  await service.sql(...insertKey({ id: `key_${randomBytes(6).toString("hex")}`, key, ...limits }));
  return key;
}

/** The status; undefined if the client hung up, `hangUpAfterMs` after it had sent its request. */
function send(key: string, hangUpAfterMs?: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const headers = { Authorization: `Bearer ${key}` };
    const sent = request(
      String(new URL("/v1/no-such-path", service.urls[0])),
      { agent, headers },
      (response) => {
        response.resume().on("end", () => resolve(response.statusCode));
      },
    );
    sent.on("error", () => resolve(undefined));
    if (hangUpAfterMs !== undefined) sent.on("finish", () => setTimeout(() => reset(sent), hangUpAfterMs));
    sent.end();
  });
}

/** workerd cancels a request whose connection is reset. One that ends as usual goes on. */
function reset({ socket }: ClientRequest): void {
  if (socket instanceof Socket) socket.resetAndDestroy();
}

/** Runs `during` while 60 clients send unknown keys. Every other client hangs up each time. */
async function flooded<T>(
  during: () => Promise<T>,
): Promise<{ statuses: Set<number | undefined>; result: T }> {
  let isOver = false;
  const statuses = new Set<number | undefined>();
  const clients = Array.from({ length: 60 }, async (_, i) => {
    while (!isOver) statuses.add(await send(newKey(), i % 2 === 0 ? undefined : Math.random() * 40));
  });
  const result = await during();
  isOver = true;
  await Promise.all(clients);
  return { statuses, result };
}

describe("in a flood of unknown keys, of which half hang up", () => {
  it("the first uses of valid keys are admitted, and no unknown key is answered 503", async ({ expect }) => {
    const keys = await Promise.all(Array.from({ length: 6 }, storeKey));
    const { statuses, result } = await flooded(async () => {
      await new Promise((resolve) => setTimeout(resolve, 300));
      const admitted: unknown[] = [];
      for (const key of keys) admitted.push(await send(key));
      return admitted;
    });
    expect(result).toEqual(keys.map(() => 404));
    expect(statuses).toEqual(new Set([401, undefined]));
  });
});

describe("a key whose lookup belongs to a client that hangs up", () => {
  it("is admitted for all the others that wait for it", async ({ expect }) => {
    for (let round = 0; round < 2; round++) {
      const key = await storeKey();
      const first = send(key, 5);
      const others = await Promise.all(Array.from({ length: 10 }, () => send(key)));
      expect(others).toEqual(others.map(() => 404));
      await first;
    }
  });
});
