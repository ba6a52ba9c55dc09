/**
 * The whole process group of the service is killed with SIGKILL under load, again and again. After each
 * start, on the same storage, counts, orders and audit rows must be what the answers of before allow.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { insertKey, type MintedKey, mintKey } from "../support/mint.ts";
import type { Found, Plan } from "./part.ts";
import { ADMIN_TOKEN, buildWorker, controlOf } from "./service.ts";
import { INSTRUCTION_HEADER } from "./worker/control.ts";

const ORDERS = 20_000;
/** So many that requests of an isolate share calls. */
const CONNECTIONS_PER_KEY = 20;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** How long the service is under load before a SIGKILL. */
const MAX_ANSWERS_PER_ROUND = 300;
const MAX_LOAD_MS = 5_000;

/** What a crash can cost: from 300 a minute on the block that was reserved, a tenth of the limit. */
const KEYS = [
  { perMinute: 200, perDay: 1_000_000, canLose: 0 },
  { perMinute: 300, perDay: 1_000_000, canLose: 30 },
  { perMinute: 1_000, perDay: 1_000_000, canLose: 100 },
] as const;

type Client = (typeof KEYS)[number] &
  MintedKey & {
    used: number;
    acknowledged: number;
    inFlight: number;
    lost: number;
  };

export async function runSigkill({
  kills,
  untilMs,
  progress,
}: Plan & { readonly kills: number }): Promise<Found> {
  const folder = await mkdtemp(join(tmpdir(), "store-orders-faults-"));
  let run: Run | undefined;
  const remove = () => {
    run?.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  process.once("exit", remove);
  try {
    const script = join(folder, "worker.js");
    await writeFile(script, await buildWorker());
    const clients = await Promise.all(
      KEYS.map(async (key) => ({
        ...key,
        ...(await mintKey()),
        ...{ used: 0, acknowledged: 0, inFlight: 0, lost: 0 },
      })),
    );
    run = new Run(script, join(folder, "state"), clients);
    let done = 0;
    while (done < kills && Date.now() < untilMs) {
      await run.round();
      progress?.(`${++done} of ${kills} kills`);
    }
    return await run.end(done);
  } finally {
    process.off("exit", remove);
    remove();
  }
}

class Run {
  readonly #script: string;
  readonly #folder: string;
  readonly #clients: readonly Client[];
  readonly #failures: string[] = [];
  readonly #cancelled = new Set<number>();
  readonly #notes: string[] = [];
  #nowMs = (Math.floor(Date.now() / DAY_MS) + 40) * DAY_MS;
  #urls: string[] = [];
  #requests = 0;
  #answers = 0;
  #nextOrder = 1;
  #rounds = 0;
  #isKilled = false;
  #child: ChildProcess | undefined;

  constructor(script: string, folder: string, clients: readonly Client[]) {
    this.#script = script;
    this.#folder = folder;
    this.#clients = clients;
  }

  async round(): Promise<void> {
    const child = await this.#start();
    try {
      if (this.#rounds++ === 0) await this.#seed();
      else await this.#check();
      this.#nowMs += MINUTE_MS;
      this.#isKilled = false;
      const load = [
        ...this.#clients.flatMap((client) => this.#clientLoad(client)),
        this.#cancelLoad(),
        this.#operatorLoad(),
      ];
      const wanted = this.#answers + 10 + Math.random() * MAX_ANSWERS_PER_ROUND;
      const untilMs = Date.now() + MAX_LOAD_MS;
      while (this.#answers < wanted && Date.now() < untilMs) await pause(5);
      this.#isKilled = true;
      kill(child);
      await Promise.all(load);
    } finally {
      kill(child);
    }
  }

  stop(): void {
    if (this.#child) kill(this.#child);
  }

  async end(kills: number): Promise<Found> {
    const child = await this.#start();
    try {
      await this.#check();
      await this.#checkUsage();
    } finally {
      kill(child);
    }
    const rows: [string, string | number][] = [
      ...this.#clients.map(({ perMinute, lost, canLose }): [string, string] => [
        `most requests lost by one SIGKILL, ${perMinute} per minute`,
        `${lost} of ${canLose} allowed`,
      ]),
      ["requests in D1 as in the limiters", this.#clients.reduce((sum, { used }) => sum + used, 0)],
      ["orders cancelled, none came back", this.#cancelled.size],
      ["changes of a key, each with its audit row", this.#notes.length],
    ];
    const title = `SIGKILL: ${kills} times under load, ${this.#requests} requests`;
    return { title, rows, failures: this.#failures };
  }

  async #start(): Promise<ChildProcess> {
    const child = spawn(
      process.execPath,
      [
        "--import",
        join(import.meta.dirname, "end-with-parent.ts"),
        join(import.meta.dirname, "sigkill-child.ts"),
        this.#script,
        this.#folder,
      ],
      {
        detached: true,
        stdio: ["pipe", "pipe", "ignore"],
      },
    );
    this.#child = child;
    for await (const line of createInterface({ input: child.stdout })) {
      this.#urls = JSON.parse(line) as string[]; // printed by the child
      return child;
    }
    throw new Error("the service did not start");
  }

  get #control() {
    return controlOf(this.#urls.map((url) => new URL(url)));
  }

  async #seed(): Promise<void> {
    const keys = this.#clients.flatMap((client) =>
      insertKey(client, { perMinute: client.perMinute, perDay: client.perDay }),
    );
    await this.#control.sql(...keys);
    await this.#control.sql([
      `with recursive n (i) as (select 1 union all select i + 1 from n where i < ${ORDERS})
       insert into orders (id, quantity) select i, i % 3 from n`,
    ]);
  }

  /** Undefined: the process was killed before it answered. */
  async #send(
    path: string,
    credential: string,
    init: RequestInit = {},
    isolate = 0,
  ): Promise<Response | undefined> {
    this.#requests++;
    const headers = {
      Authorization: `Bearer ${credential}`,
      [INSTRUCTION_HEADER]: JSON.stringify({ nowMs: this.#nowMs }),
    };
    try {
      const response = await fetch(new URL(path, this.#urls[isolate % this.#urls.length]), {
        ...init,
        headers,
      });
      await response.clone().arrayBuffer();
      this.#answers++;
      return response;
    } catch {
      return undefined;
    }
  }

  #clientLoad(client: Client): Promise<void>[] {
    return Array.from({ length: CONNECTIONS_PER_KEY }, async (_, connection) => {
      while (!this.#isKilled) {
        const response = await this.#send("/v1/no-such-path", client.key, {}, connection);
        if (!response) client.inFlight++;
        else if (response.status === 404) client.acknowledged++;
        else if (response.status === 429) return;
        else this.#failures.push(`a request got ${response.status}`);
      }
    });
  }

  async #cancelLoad(): Promise<void> {
    const [client] = this.#clients.slice(-1);
    while (client && !this.#isKilled && this.#nextOrder <= ORDERS) {
      const order = this.#nextOrder++;
      const response = await this.#send(`/v1/store/orders/${order}`, client.key, { method: "DELETE" }, order);
      if (!response) client.inFlight++;
      else if (response.status === 429) return;
      else client.acknowledged++;
      if (response?.status === 204) this.#cancelled.add(order);
      else if (response) this.#failures.push(`a cancel got ${response.status}`);
    }
  }

  async #operatorLoad(): Promise<void> {
    const [client] = this.#clients;
    while (client && !this.#isKilled) {
      const note = `note ${this.#notes.length + 1} of round ${this.#rounds}`;
      const init = { method: "PATCH", body: JSON.stringify({ note }) };
      const response = await this.#send(`/admin/keys/${client.id}`, ADMIN_TOKEN, init);
      if (response?.ok) this.#notes.push(note);
      else if (response) this.#failures.push(`a change of a key got ${response.status}`);
    }
  }

  /** What the restarted service has, beside the answers of before the SIGKILL. */
  async #check(): Promise<void> {
    for (const client of this.#clients) await this.#checkCounts(client);
    const [audit, note, orders, cancelled, both] = await this.#control.sql(
      ["select json_extract(after, '$.note') as note from audit_log order by id"],
      ["select note from api_keys where id = ?", this.#clients[0]?.id ?? null],
      ["select count(*) as count from orders"],
      ["select order_id as id from cancelled_orders"],
      ["select count(*) as count from cancelled_orders where order_id in (select id from orders)"],
    );
    const written = (audit ?? []).map((row) => String(row.note));
    const missing = this.#notes.filter((each) => !written.includes(each));
    if (missing.length > 0) this.#failures.push(`${missing.length} acknowledged changes have no audit row`);
    if ((written.at(-1) ?? null) !== (note?.[0]?.note ?? null))
      this.#failures.push("the key and its last audit row differ");
    const gone = new Set((cancelled ?? []).map(({ id }) => Number(id)));
    const back = [...this.#cancelled].filter((id) => !gone.has(id));
    if (back.length > 0 || both?.[0]?.count !== 0)
      this.#failures.push(`${back.length} cancelled orders came back`);
    if (Number(orders?.[0]?.count) + (cancelled?.length ?? 0) !== ORDERS)
      this.#failures.push("orders were lost");
    if (gone.size !== cancelled?.length) this.#failures.push("an order was cancelled twice");
  }

  /** Once each limiter has reported, D1 has what the limiters have: what a SIGKILL cost counts in both. */
  async #checkUsage(): Promise<void> {
    const { control, sql } = this.#control;
    const ids = this.#clients.map(({ id }) => id);
    const untilMs = this.#nowMs + 3 * DAY_MS;
    await control("alarms", { nowMs: this.#nowMs, untilMs, ids, maxAlarms: 10 * ids.length });
    const [rows = []] = await sql(["select key_id, sum(admitted) as admitted from usage group by key_id"]);
    for (const { id, used } of this.#clients) {
      const stored = rows.find((row) => row.key_id === id)?.admitted;
      if (stored !== used) this.#failures.push(`${id}: D1 has ${stored} requests, and its limiter ${used}`);
    }
  }

  /** A SIGKILL costs at most the block that was reserved. A request without an answer was counted or not. */
  async #checkCounts(client: Client): Promise<void> {
    const response = await this.#send("/v1/no-such-path", client.key);
    const remaining = /"day";r=(\d+)/.exec(response?.headers.get("RateLimit") ?? "")?.[1];
    if (remaining === undefined) return void this.#failures.push(`the first request got ${response?.status}`);
    const isAdmitted = response?.status === 404 ? 1 : 0;
    const used = client.perDay - Number(remaining) - isAdmitted;
    const atLeast = client.used + client.acknowledged;
    const lost = used - atLeast;
    if (lost < 0) this.#failures.push(`${client.id} gained ${-lost} requests by a SIGKILL`);
    if (lost > client.canLose + client.inFlight) {
      this.#failures.push(
        `${client.id} lost ${lost} requests by a SIGKILL, ${client.inFlight} of them in flight at most`,
      );
    }
    client.lost = Math.max(client.lost, lost - client.inFlight);
    Object.assign(client, { used: used + isAdmitted, acknowledged: 0, inFlight: 0 });
  }
}

/** The process and workerd, which it started. */
function kill({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // it has ended already
  }
}
