/** Sends requests that get every response in the document, and records the exchanges. */
import { ADMIN_TOKEN, type Service, startService } from "../support/service.ts";

export type Exchange = {
  /** The operation, by the method and path of the document. */
  readonly method: "get" | "delete";
  readonly path: string;
  readonly address: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly status: number;
  readonly responseHeaders: Readonly<Record<string, string>>;
  readonly body: string;
};

type Step = {
  readonly key: string | null;
  readonly address: string;
  readonly headers?: Record<string, string>;
  /** Another method than the operation's, to get a 405. */
  readonly sendAs?: string;
};

const OPERATIONS = {
  listOrders: { method: "get", path: "/store/orders" },
  cancelOrder: { method: "delete", path: "/store/orders/{orderId}" },
  getPet: { method: "get", path: "/pets/{petId}" },
} as const;

type OperationId = keyof typeof OPERATIONS;

/** For each operation, a valid address and a method that its path does not support. */
const REQUESTS: Readonly<Record<OperationId, { address: string; wrongMethod: string }>> = {
  listOrders: { address: "/store/orders", wrongMethod: "POST" },
  cancelOrder: { address: "/store/orders/404", wrongMethod: "PUT" },
  getPet: { address: "/pets/1", wrongMethod: "DELETE" },
};

export async function recordTraffic(): Promise<Exchange[]> {
  const service = await startService();
  const afterSunset = await startService({ PETS_SUNSET_DATE: "2026-11-21" });
  try {
    return [
      ...(await recordOrders(service)),
      ...(await recordPets(service, afterSunset)),
      ...(await recordRefusals(service)),
      ...(await recordFailures(service)),
    ];
  } finally {
    await Promise.all([service.close(), afterSunset.close()]);
  }
}

async function recordOrders(service: Service): Promise<Exchange[]> {
  await service.db.exec(
    "insert into orders (id, pet_id, quantity, ship_date, complete, status) values (1, 7, 2, '2026-11-24T09:00:00.000Z', 0, 'pending'), (2, null, null, null, null, 'shipped'), (3, 7, 1, null, 1, 'delivered'), (9007199254740991, -5, 3, null, null, 'processing')",
  );
  const { key } = await service.createKey();
  const list = { key, address: "/store/orders" };
  const whole = await send(service, "listOrders", list);
  const etag = whole.responseHeaders.etag ?? "";
  return [
    whole,
    await send(service, "listOrders", { ...list, headers: { "If-None-Match": etag } }),
    await send(service, "cancelOrder", { key, address: "/store/orders/1" }),
    await send(service, "cancelOrder", { key, address: "/store/orders/1" }),
    await send(service, "cancelOrder", { key, address: "/store/orders/2" }),
    await send(service, "cancelOrder", { key, address: "/store/orders/3" }),
  ];
}

async function recordPets(service: Service, afterSunset: Service): Promise<Exchange[]> {
  const before = await service.createKey();
  const after = await afterSunset.createKey();
  return [
    await send(service, "getPet", { key: before.key, address: "/pets/1" }),
    await send(afterSunset, "getPet", { key: after.key, address: "/pets/1" }),
  ];
}

/** Each operation over plain HTTP, with a long URL, without a key, with an invalid key, with an unsupported method, over the limit, and banned. */
async function recordRefusals(service: Service): Promise<Exchange[]> {
  return forEachOperation(async (id) => {
    const { address, wrongMethod } = REQUESTS[id];
    const { key } = await service.createKey();
    const limited = await service.createKey({ perMinute: 1, perDay: 1 });
    const banned = await service.createKey();
    await service.call(limited.key, "/v1/store/orders");
    await ban(service, banned.id);
    const plainHttp = { "MF-Original-URL": `http://orders.test/v1${address}`, "CF-Ray": "1" };
    return [
      await send(service, id, { key, address, headers: plainHttp }),
      await send(service, id, { key, address: `${address}?${"x".repeat(5_000)}` }),
      await send(service, id, { key: null, address }),
      await send(service, id, { key: "sok_wrong", address }),
      await send(service, id, { key, address, sendAs: wrongMethod }),
      await send(service, id, { key: limited.key, address }),
      await send(service, id, { key: banned.key, address }),
    ];
  });
}

async function ban(service: Service, keyId: string): Promise<void> {
  const response = await service.call(ADMIN_TOKEN, `/admin/keys/${keyId}/ban`, {
    method: "PUT",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ seconds: 600, reason: "a test" }),
  });
  if (!response.ok) throw new Error(`the ban was answered with ${response.status}`);
}

/** These come last, because the service does not work afterwards. */
async function recordFailures(service: Service): Promise<Exchange[]> {
  const unreachable = await forEachOperation(async (id) => {
    const known = await service.createKey();
    await service.call(known.key, "/v1/store/orders");
    await service.limiterSql(known.id, "alter table limiter_state rename to limiter_state_away");
    return [await send(service, id, { key: known.key, address: REQUESTS[id].address })];
  });
  const { key } = await service.createKey();
  await service.db.exec("alter table api_keys rename to api_keys_away");
  const broken = await forEachOperation(async (id) => [
    await send(service, id, { key, address: REQUESTS[id].address }),
  ]);
  return [...unreachable, ...broken];
}

async function forEachOperation(record: (id: OperationId) => Promise<Exchange[]>): Promise<Exchange[]> {
  const exchanges: Exchange[] = [];
  // Object.keys returns string[]; the type of the table says which keys it has.
  for (const id of Object.keys(OPERATIONS) as OperationId[]) exchanges.push(...(await record(id)));
  return exchanges;
}

async function send(service: Service, id: OperationId, step: Step): Promise<Exchange> {
  const { method, path } = OPERATIONS[id];
  const { key, address, headers = {}, sendAs = method.toUpperCase() } = step;
  const response = await service.call(key, `/v1${address}`, { method: sendAs, headers });
  const sent = key === null ? headers : { ...headers, Authorization: `Bearer ${key}` };
  return {
    method,
    path,
    address,
    headers: sent,
    status: response.status,
    responseHeaders: Object.fromEntries(response.headers),
    body: await response.text(),
  };
}
