/** A mixed load from many connections. Then clients, limiters and D1 must have the same counts. */
import { insertKey, mintKey } from "../support/mint.ts";
import { seededRandom } from "../support/random.ts";
import { LIST } from "./model/client.ts";
import { ISOLATES } from "./model-run.ts";
import { ADMIN_TOKEN, type FaultService, startFaultService } from "./service.ts";
import { INSTRUCTION_HEADER } from "./worker/control.ts";

export type LoadRun = {
  readonly requests: number;
  readonly seconds: number;
  readonly checks: readonly (readonly [string, string | number])[];
  readonly failures: readonly string[];
};

type Plan = {
  readonly requests: number;
  readonly seed: number;
  readonly untilMs: number;
  readonly progress: (text: string) => void;
};

const CONNECTIONS = 24;
const KEYS = 40;
const ORDERS = 2_000;
const DAY_MS = 86_400_000;
/** The clock of the service stands still for so many requests, and then moves by a second: 300 a second. */
const REQUESTS_PER_SECOND = 300;

/** Some are never refused, some often, and some until they are banned. */
const LIMITS = [
  { perMinute: 30_000, perDay: 40_000_000 },
  { perMinute: 1_000, perDay: 100_000 },
  { perMinute: 300, perDay: 10_000 },
  { perMinute: 60, perDay: 1_000 },
] as const;

type Client = {
  readonly id: string;
  readonly key: string;
  admitted: number;
  limited: number;
  banned: number;
  cancelled: number;
  unanswered: number;
};

export async function runLoad(script: string, plan: Plan): Promise<LoadRun> {
  const service = await startFaultService(script, { isolates: ISOLATES, vars: { REAL_TIMERS: "1" } });
  try {
    const clients = await createClients(service);
    await service.sql([
      `with recursive n (i) as (select 1 union all select i + 1 from n where i < ${ORDERS})
       insert into orders (id, pet_id, quantity) select i, i % 50, i % 3 from n`,
    ]);
    const startedAtMs = Date.now();
    const beginMs = (Math.floor(startedAtMs / DAY_MS) + 40) * DAY_MS;
    const load = new Load(service, clients, { ...plan, beginMs });
    await load.run();
    const seconds = Math.max(1, Math.round((Date.now() - startedAtMs) / 1000));
    plan.progress("load: the limiters report");
    return { requests: load.sent, seconds, ...(await compare(service, clients, load)) };
  } finally {
    await service.close();
  }
}

async function createClients(service: FaultService): Promise<Client[]> {
  const clients: Client[] = [];
  for (let i = 0; i < KEYS; i++) {
    const limits = LIMITS[i % LIMITS.length] ?? LIMITS[0];
    const key = await mintKey();
    await service.sql(...insertKey(key, limits));
    const { id } = key;
    clients.push({ id, key: key.key, admitted: 0, limited: 0, banned: 0, cancelled: 0, unanswered: 0 });
  }
  return clients;
}

type LoadPlan = Plan & { readonly beginMs: number };

class Load {
  readonly statuses = new Map<string, number>();
  readonly unexpected: string[] = [];
  readonly #service: FaultService;
  readonly #clients: readonly Client[];
  readonly #plan: LoadPlan;
  #etag: string | null = null;
  readonly #random: () => number;
  sent = 0;
  #nextOrder = 1;

  constructor(service: FaultService, clients: readonly Client[], plan: LoadPlan) {
    this.#service = service;
    this.#clients = clients;
    this.#plan = plan;
    this.#random = seededRandom(plan.seed);
  }

  get nowMs(): number {
    return this.#plan.beginMs + Math.floor(this.sent / REQUESTS_PER_SECOND) * 1000;
  }

  async run(): Promise<void> {
    const { requests, untilMs, progress } = this.#plan;
    let shownAtMs = Date.now();
    const sendInTurn = async () => {
      while (this.sent < requests && Date.now() < untilMs) {
        this.sent++;
        await this.#sendOne();
        if (Date.now() - shownAtMs < 10_000) continue;
        shownAtMs = Date.now();
        progress(`load: ${this.sent} of ${requests} requests`);
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, sendInTurn));
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  async #sendOne(): Promise<void> {
    const url = this.#service.urls[this.#below(ISOLATES)];
    if (!url) return;
    const kind = this.#below(1_000);
    const client = this.#clients[this.#below(KEYS)];
    if (!client) return;
    const etag = this.#etag;
    const isCancel = kind < 3;
    const isList = !isCancel && kind < 450;
    const path = isCancel ? `${LIST}/${this.#nextOrder++}` : isList ? LIST : "/v1/no-such-path";
    const headers = isList && kind > 15 && etag !== null ? { "If-None-Match": etag } : {};
    const isUnknown = kind >= 980;
    const key = isUnknown ? `sok_${kind}` : client.key;
    const answer = await this.#send(new URL(path, String(url)), isCancel ? "DELETE" : "GET", key, headers);
    this.#count(client, answer, isUnknown);
  }

  async #send(url: URL, method: string, key: string, headers: Record<string, string>): Promise<Received> {
    const instruction = JSON.stringify({ nowMs: this.nowMs });
    const sent = { ...headers, Authorization: `Bearer ${key}`, [INSTRUCTION_HEADER]: instruction };
    try {
      const response = await fetch(url, { method, headers: sent });
      const { status } = response;
      return { status, text: await response.text(), etag: response.headers.get("ETag") };
    } catch {
      return NO_ANSWER;
    }
  }

  #count(client: Client, { status, text, etag }: Received, isUnknown: boolean): void {
    const isBanned = status === 429 && text.includes('"key_banned"');
    const name = isBanned ? "429 key_banned" : String(status);
    this.statuses.set(name, (this.statuses.get(name) ?? 0) + 1);
    if (etag !== null) this.#etag = etag;
    const isAnswered = status !== 503 && status !== NO_ANSWER.status;
    if (isAnswered && (isUnknown !== (status === 401) || status >= 500)) {
      this.unexpected.push(`a request got ${status}: ${text.slice(0, 300)}`);
    }
    if (isUnknown) return;
    // On a busy machine the Worker's wait for a limiter ends. The limiter may have counted the request.
    if (!isAnswered) client.unanswered++;
    else if (isBanned) client.banned++;
    else if (status === 429) client.limited++;
    else client.admitted++;
    if (status === 204) client.cancelled++;
  }
}

type Received = { readonly status: number; readonly text: string; readonly etag: string | null };

/** The connection was lost. */
const NO_ANSWER: Received = { status: 0, text: "", etag: null };

/** More of the requests without an answer than this share are no accident of a busy machine. */
const MAX_UNANSWERED_SHARE = 0.01;

/** The limiters' own figures, then D1's, once each limiter has reported, beside those of the clients. */
async function compare(service: FaultService, clients: readonly Client[], load: Load) {
  const failures = load.unexpected.slice(0, 5);
  const ids = clients.map(({ id }) => id);
  const usage = new Map<string, number[]>();
  for (const { id } of clients) usage.set(id, await usageOf(service, id, load.nowMs));
  await service.control("alarms", {
    nowMs: load.nowMs,
    untilMs: load.nowMs + 3 * DAY_MS,
    ids,
    maxAlarms: 10 * KEYS,
  });
  const [rows, cancelled, orders, bans] = await service.sql(
    [
      `select key_id, sum(admitted) as admitted, sum(refused) as refused, sum(refused_while_banned) as banned
        from usage group by key_id`,
    ],
    ["select cancelled_by as key_id, count(*) as count from cancelled_orders group by 1"],
    ["select count(*) as count from orders"],
    ["select count(*) as count from bans"],
  );
  const stored = new Map(
    (rows ?? []).map((row) => [row.key_id, [row.admitted, row.refused, row.banned].map(Number)]),
  );
  const cancels = new Map((cancelled ?? []).map((row) => [row.key_id, Number(row.count)]));
  for (const { id, admitted, limited, banned, cancelled, unanswered } of clients) {
    const counted = [admitted, limited, banned];
    for (const [who, figures] of [
      ["the limiter", usage.get(id)],
      ["D1", stored.get(id)],
    ] as const) {
      if (counted.every((count, i) => isBetween((figures ?? [0, 0, 0])[i] ?? 0, count, count + unanswered)))
        continue;
      failures.push(
        `${id}: the clients counted ${counted} admitted, refused, refused while banned, ${unanswered} got no answer; ${who} has ${figures}`,
      );
    }
    if (!isBetween(cancels.get(id) ?? 0, cancelled, cancelled + unanswered))
      failures.push(`${id}: ${cancelled} cancels, and D1 has ${cancels.get(id) ?? 0}`);
  }
  const sumOf = (each: (client: Client) => number) => clients.reduce((sum, client) => sum + each(client), 0);
  const unanswered = sumOf((client) => client.unanswered);
  if (unanswered > load.sent * MAX_UNANSWERED_SHARE) failures.push(`${unanswered} requests got no answer`);
  const left = Number(orders?.[0]?.count);
  const gone = [...cancels.values()].reduce((sum, count) => sum + count, 0);
  if (left !== ORDERS - gone) failures.push(`${left} orders are left`);
  const checks: [string, string | number][] = [
    ["admitted: clients = limiters = D1", sumOf(({ admitted }) => admitted)],
    ["refused: clients = limiters = D1", sumOf(({ limited }) => limited)],
    ["refused while banned: clients = limiters = D1", sumOf(({ banned }) => banned)],
    ["got no answer or a 503, counted or not", sumOf(({ unanswered }) => unanswered)],
    ["bans", Number(bans?.[0]?.count)],
    ["cancelled orders: clients = D1", sumOf(({ cancelled }) => cancelled)],
    ...[...load.statuses].sort().map(([status, count]): [string, number] => [`status ${status}`, count]),
  ];
  return { checks, failures };
}

function isBetween(value: number, lowest: number, highest: number): boolean {
  return value >= lowest && value <= highest;
}

async function usageOf(service: FaultService, id: string, nowMs: number): Promise<number[]> {
  const response = await fetch(new URL(`/admin/keys/${id}/usage?from=90d`, String(service.urls[0])), {
    headers: { Authorization: `Bearer ${ADMIN_TOKEN}`, [INSTRUCTION_HEADER]: JSON.stringify({ nowMs }) },
  });
  // The answer's type, as far as it is read here.
  const { total } = (await response.json()) as {
    total: { admitted: number; refused: number; refusedWhileBanned: number };
  };
  return [total.admitted, total.refused, total.refusedWhileBanned];
}
