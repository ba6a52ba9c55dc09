/**
 * A limiter with one fault, which is the id of the row that has to see it, or one of OTHER_FAULTS; and its world,
 * whose clock does not wait.
 */
import type { Sent } from "./answer.ts";
import type { World } from "./session.ts";
import { type Settings, settingsOf } from "./settings.ts";

const COUNT = 10;
const LONGER = 15;
const SECONDS = 8;
const LONGER_SECONDS = 80;
const WINDOW_MS = SECONDS * 1000;
const PATHS = ["/ok", "/costly", "/private", "/longer"];

/** Further faults, and the rows that have to see them. */
export const OTHER_FAULTS = {
  never: ["limit", "at-once"],
  "the reset moves with each request": ["reset", "waits-agree"],
  "who goes on is admitted": ["limit", "at-once"],
  "the longer wait is a time": ["longer-wait"],
  "a refusal shows a rest": ["remaining"],
  "the draft's seconds are over": ["waits-agree"],
};

type Window = { start: number; count: number; refused: number; refusedInTheMiddle: number };
type Client = {
  limit: number;
  used: Record<"short" | "long", Window>;
  bannedUntil: number;
  revokedAt: number;
  blockedUntil: number;
  lastMs: number;
  /** Windows in a row in which it was refused again and again. */
  busy: number;
};

export class PlantedLimiter implements World {
  readonly #fault: string | undefined;
  readonly #count: number;
  readonly #clients = new Map<string, Client>();
  #nowMs = Date.UTC(2026, 0, 1);
  #isAway = false;
  #refusedKey = "";

  constructor(fault?: string, count = COUNT) {
    this.#fault = fault;
    this.#count = count;
  }

  static settings(profiles: Settings["profiles"]): Settings {
    return settingsOf(
      JSON.stringify({
        ...{ ok: "GET /ok", notFound: "GET /none", wrongMethod: "POST /ok", unauthorized: "GET /private" },
        ...{ costly: "GET /costly", header: "X-Key: {key}", profiles },
        limit: { count: COUNT, seconds: SECONDS },
        longer: { count: LONGER, seconds: LONGER_SECONDS, ok: "GET /longer" },
        ...Object.fromEntries(
          ["restart", "revoke", "ban", "setLimit", "storeAway", "storeBack"].map((name) => [name, name]),
        ),
      }),
    );
  }

  now = () => this.#nowMs;

  async sleep(ms: number): Promise<void> {
    this.#nowMs += Math.ceil(ms);
  }

  async run(command: string, { KEY = "", COUNT: count, BAN_SECONDS: seconds }: Record<string, string>) {
    const client = this.#clientOf(KEY);
    if (command === "restart" && this.#is("restart")) this.#clients.clear();
    if (command === "revoke") client.revokedAt = this.#nowMs + (this.#is("revoked") ? 5_000 : 0);
    if (command === "ban") client.bannedUntil = this.#nowMs + Number(seconds) * 1000;
    if (command.startsWith("store")) this.#isAway = command === "storeAway" || this.#is("store-back");
    if (command === "setLimit") {
      const isIgnored = this.#is("lowered") && Number(count) < client.limit;
      if (!isIgnored) client.limit = Number(count);
      if (this.#is("raised")) client.used.short.count += client.used.short.refused;
    }
    return "";
  }

  async send(method: string, path: string, sent: Readonly<Record<string, string>>): Promise<Sent> {
    const key = sent["X-Key"] ?? "";
    if (this.#isAway && !this.#is("store-away"))
      return this.#is("store-away-503")
        ? answer(500)
        : answer(503, { "Retry-After": "5" }, "the counts cannot be reached");
    if (key === "" && path === "/private") {
      const triple = { "X-RateLimit-Limit": "0", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1" };
      return answer(401, this.#is("headers-401") ? {} : triple);
    }
    if (key === "" && !this.#is("no-key")) return answer(401);
    const client = this.#clientOf(key);
    if (this.#nowMs >= client.revokedAt) return answer(401);
    const windows = path === "/longer" ? (["short", "long"] as const) : (["short"] as const);
    for (const name of windows) this.#turn(client, name);
    if (path === "/costly") return this.#costly(client);
    const { count } = client.used.short;
    if (this.#is("at-once")) await undefined;
    const isFree = this.#is("head") && method === "HEAD";
    const isAdmitted = isFree || this.#decide(key, client, windows, count);
    if (this.#is("remaining-at-once")) await undefined;
    const headers = this.#headersOf(client, windows, isAdmitted);
    const isBanned = this.#nowMs < client.bannedUntil;
    if (!isAdmitted) {
      if (this.#is("headers-429")) drop(headers);
      if (this.#is("waits-agree")) headers["X-RateLimit-Reset"] = seconds(this.#nowMs + 40_000);
      const endMs = isBanned && !this.#is("ban") ? client.bannedUntil : this.#endOf(client, windows);
      const isTime = this.#is("the longer wait is a time") && endMs - this.#nowMs > WINDOW_MS;
      const wait = Math.ceil((isTime ? endMs : endMs - this.#nowMs) / 1000);
      const isZero = this.#is("last-second") && wait === 1;
      if (!this.#is("retry-after")) headers["Retry-After"] = String(isZero ? 0 : wait);
      if (this.#is("not-stored")) headers["Cache-Control"] = "public, max-age=60";
      return answer(this.#is("429") ? 403 : 429, headers, this.#is("explains") ? "" : "too many");
    }
    const status = this.#statusOf(method, path, sent);
    if (this.#is(`headers-${status}`) || this.#is(`headers-${method}`)) drop(headers);
    return answer(status, { ETag: '"1"', ...headers });
  }

  #is = (fault: string) => this.#fault === fault;

  #statusOf(method: string, path: string, sent: Readonly<Record<string, string>>): number {
    if (!PATHS.includes(path)) return 404;
    if (!["GET", "HEAD", "OPTIONS"].includes(method)) return 405;
    return sent["If-None-Match"] === '"1"' ? 304 : 200;
  }

  #clientOf(key: string): Client {
    const none = { start: 0, count: 0, refused: 0, refusedInTheMiddle: 0 };
    const client = this.#clients.get(key) ?? {
      limit: this.#count,
      used: { short: { ...none }, long: { ...none } },
      ...{ bannedUntil: 0, revokedAt: Number.POSITIVE_INFINITY, blockedUntil: 0, lastMs: 0, busy: 0 },
    };
    this.#clients.set(key, client);
    return client;
  }

  /** Begins the window of now, unless it has begun. */
  #turn(client: Client, name: "short" | "long"): void {
    const ms = (name === "short" ? SECONDS : LONGER_SECONDS) * 1000;
    const [last, start] = [client.used[name], this.#nowMs - (this.#nowMs % ms)];
    if (start === last.start) return;
    const isNext = name === "short" && last.start === start - ms;
    client.busy = isNext && last.refused > 2 ? client.busy + 1 : 0;
    let count = this.#is("refusal-cost") && isNext ? last.refusedInTheMiddle : 0;
    if (this.#is("goes-on") && client.busy > 1) count = COUNT;
    client.used[name] = { start, count, refused: 0, refusedInTheMiddle: 0 };
  }

  #costly(client: Client): Sent {
    if (this.#is("costly")) client.used.short.count += 5;
    return answer(413, this.#is("costly-wait") ? { "Retry-After": "8" } : {}, "costs more than the limit");
  }

  /** `count` is what was read before, maybe too early. */
  #decide(key: string, client: Client, windows: readonly ("short" | "long")[], count: number): boolean {
    const { short, long } = client.used;
    const [sinceMs, intoMs] = [this.#nowMs - client.lastMs, this.#nowMs - short.start];
    const limit = client.limit - (client.limit === COUNT && this.#is("limit") ? 1 : 0);
    const isOpen =
      (this.#is("early") && short.refused > 0 && intoMs > WINDOW_MS - 2_000) ||
      (this.#is("who goes on is admitted") && short.refused >= 3);
    const reasons = [
      count >= limit && !isOpen,
      windows.includes("long") && long.count >= LONGER && !this.#is("longer"),
      this.#nowMs < client.bannedUntil,
      this.#is("too-fast") && sinceMs > 50 && sinceMs < WINDOW_MS / COUNT,
      this.#is("other-key") && ![key, ""].includes(this.#refusedKey),
      this.#nowMs < client.blockedUntil && client.blockedUntil - this.#nowMs <= 200,
    ];
    const isUnlimited = key === "" || this.#is("never") || (this.#isAway && this.#is("store-away"));
    const isAdmitted = isUnlimited || !reasons.includes(true);
    this.#refusedKey = isAdmitted ? "" : key;
    if (isAdmitted) {
      short.count = count + 1;
      client.lastMs = this.#nowMs;
    } else {
      short.refused++;
      if (Math.abs(intoMs - WINDOW_MS / 2) < WINDOW_MS / 10) short.refusedInTheMiddle++;
      if (this.#is("on-time") && intoMs < WINDOW_MS / 2) client.blockedUntil = short.start + WINDOW_MS + 200;
    }
    if (isAdmitted || this.#is("no-leak")) long.count++;
    return isAdmitted;
  }

  /** When the windows that refuse are over; else the short one. */
  #endOf({ used }: Client, windows: readonly ("short" | "long")[]): number {
    const isLong = windows.includes("long") && used.long.count >= LONGER && !this.#is("longer-wait");
    return isLong ? used.long.start + LONGER_SECONDS * 1000 : used.short.start + WINDOW_MS;
  }

  #headersOf(client: Client, windows: readonly ("short" | "long")[], isAdmitted: boolean) {
    const limit = client.limit + (this.#is("limit-shown") ? 1 : 0);
    const off = this.#is(isAdmitted ? "remaining" : "a refusal shows a rest") ? 1 : 0;
    const left = off + (isAdmitted ? Math.max(0, client.limit - client.used.short.count) : 0);
    const endMs = Math.max(this.#endOf(client, windows), isAdmitted ? 0 : client.bannedUntil);
    const wrongMs = this.#is("reset") && isAdmitted ? WINDOW_MS : 0;
    const isMoving = this.#is("the reset moves with each request");
    const resetMs = isMoving ? this.#nowMs + WINDOW_MS : endMs + wrongMs;
    const isOver = this.#is("the draft's seconds are over");
    const wait = Math.ceil(Math.abs(resetMs - this.#nowMs - (isOver ? WINDOW_MS : 0)) / 1000);
    const name = this.#is("draft") ? "short" : '"short"';
    return {
      "X-RateLimit-Limit": String(limit),
      "X-RateLimit-Remaining": String(left),
      "X-RateLimit-Reset": this.#is("triple") ? `${resetMs / 1000}.5` : seconds(resetMs),
      "RateLimit-Policy": `"short";q=${limit};w=${SECONDS}`,
      RateLimit: `${name};r=${left};t=${wait}`,
    } as Record<string, string>; // the others add to it
  }
}

const seconds = (ms: number) => String(Math.ceil(ms / 1000));

function drop(headers: Record<string, string>): void {
  for (const name of Object.keys(headers)) delete headers[name];
}

const answer = (status: number, headers: Record<string, string> = {}, body = "{}"): Sent => ({
  status,
  headers: new Headers(headers),
  body,
});
