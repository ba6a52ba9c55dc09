/** Sends each alert to the webhook at least once, as Standard Webhooks specifies (ADR-28). */
import { waitUntil } from "cloudflare:workers";
import { type Database, type DatabaseEnv, openDatabase } from "../../db/database.ts";
import { logError, logEvent } from "../../platform/log.ts";
import { settingsOf, type Webhook } from "../../platform/settings.ts";
import { HOUR_SECONDS, nowSeconds, rfc3339 } from "../../text/time.ts";
import { claimDueAlerts, type DueAlert, noteAnswer } from "./sql.ts";

/**
 * The alerts of a batch are sent at the same time, so that the batch ends before they are due again. An
 * invocation has six connections.
 */
const ALERTS_PER_BATCH = 5;
const MAX_BATCHES = 20;
const TIMEOUT_MS = 10_000;
/** A receiver that asks for a longer pause is asked again after this time. */
const MAX_PAUSE_SECONDS = HOUR_SECONDS;

const USER_AGENT = "Store-Orders-Alerts/1.0";

/** Sends an alert that was just stored. The caller does not wait, and sees no failure of the webhook. */
export function deliverSoon(env: DatabaseEnv): void {
  if (settingsOf(env).webhook !== undefined) waitUntil(deliverBatch(env));
}

/** Sends every alert that is due. Runs every minute. */
export async function deliverDueAlerts(env: DatabaseEnv): Promise<void> {
  for (let batch = 0; batch < MAX_BATCHES; batch++) {
    if ((await deliverBatch(env)) < ALERTS_PER_BATCH) return;
  }
}

/** Returns how many alerts it tried to send. Never rejects: an alert that was not sent is due again later. */
async function deliverBatch(env: DatabaseEnv): Promise<number> {
  const { webhook, consoleUrl } = settingsOf(env);
  if (webhook === undefined) return 0;
  const db = openDatabase(env.DB);
  try {
    const due = await claimDueAlerts(db, await addressOf(webhook), nowSeconds(), ALERTS_PER_BATCH);
    const logFailure = (thrown: unknown) => logError("alerts_not_delivered", thrown);
    await Promise.all(due.map((alert) => deliver(db, webhook, alert, consoleUrl).catch(logFailure)));
    return due.length;
  } catch (thrown) {
    logError("alerts_not_delivered", thrown);
    return 0;
  }
}

/** Sends the alert, and stores the answer. */
export async function deliver(
  db: Database,
  webhook: Webhook,
  { id, type, at, keyId, ...alert }: DueAlert,
  consoleUrl: string | undefined,
): Promise<Delivery> {
  const link = consoleUrl === undefined ? "" : ` ${consoleUrl}/keys/${keyId}`;
  // `insertAlert` made this text.
  const data = JSON.parse(alert.data) as Payload["data"];
  const timestamp = rfc3339(at);
  // An alert can arrive hours after what it tells of, and after a later alert.
  const text = `${plain(alert.text)} (${timestamp.replace("T", " ").replace("Z", " UTC")})${link}`;
  const sent = await send(webhook, id, { type, timestamp, data, text });
  if (sent.error !== null) logEvent("alert_not_delivered", { alert: id, error: sent.error });
  return note(db, webhook, id, sent);
}

/** Sends a test alert. A receiver that accepts it is on again. */
export async function deliverTest(db: Database, webhook: Webhook, actor: string): Promise<Delivery> {
  const text = "This is a test alert of Store Orders. Alerts arrive here.";
  const payload = { type: "test", timestamp: rfc3339(nowSeconds()), data: { actor }, text };
  return note(db, webhook, undefined, await send(webhook, `test_${crypto.randomUUID()}`, payload));
}

async function note(
  db: Database,
  webhook: Webhook,
  id: string | undefined,
  { pauseSeconds, ...sent }: Answered,
): Promise<Delivery> {
  const answeredAt = nowSeconds();
  const pausedUntil = pauseSeconds === 0 ? 0 : answeredAt + pauseSeconds;
  const isGone = sent.status === 410;
  await noteAnswer(db, await addressOf(webhook), id, { answeredAt, error: sent.error, isGone, pausedUntil });
  return { ...sent, at: rfc3339(answeredAt) };
}

/** Names the receiver in D1 without its address. */
export function addressOf({ url, secret }: Webhook): Promise<string> {
  return sign(secret, url);
}

/** Slack reads `<…>` as a link or a mention, and a name may have these characters. */
function plain(text: string): string {
  return text.replaceAll("<", "‹").replaceAll(">", "›");
}

type Payload = {
  readonly type: string;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, string | number | null>>;
  readonly text: string;
};

export type Delivery = {
  /** When the answer came, or the attempt failed. */
  readonly at: string;
  readonly delivered: boolean;
  /** The status of the answer; null without an answer. */
  readonly status: number | null;
  /** The reason of a failure. It never has the address, which can be a secret. */
  readonly error: string | null;
};

/** `pauseSeconds` is how long the receiver asked to wait. */
type Answered = Omit<Delivery, "at"> & { readonly pauseSeconds: number };

/** A redirect is a failure, because the alert is for this address only. */
async function send({ url, secret }: Webhook, id: string, payload: Payload): Promise<Answered> {
  const timestamp = String(nowSeconds());
  const body = JSON.stringify(payload);
  const signature = await sign(secret, `${id}.${timestamp}.${body}`);
  // Not `AbortSignal.timeout`: its timer would keep an object in memory after the answer.
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), TIMEOUT_MS);
  try {
    const response = await fetch(url, {
      method: "POST",
      redirect: "manual",
      signal: timeout.signal,
      headers: {
        "Content-Type": "application/json",
        "User-Agent": USER_AGENT,
        "webhook-id": id,
        "webhook-timestamp": timestamp,
        "webhook-signature": `v1,${signature}`,
      },
      body,
    });
    await response.body?.cancel().catch(() => undefined);
    const { ok, status } = response;
    if (ok) return { delivered: true, status, error: null, pauseSeconds: 0 };
    const pauseSeconds = pauseOf(response.headers.get("Retry-After") ?? "", Date.now());
    return { delivered: false, status, error: `status ${status}`, pauseSeconds };
  } catch {
    const error = timeout.signal.aborted ? "timeout" : "unreachable";
    return { delivered: false, status: null, error, pauseSeconds: 0 };
  } finally {
    clearTimeout(timer);
  }
}

/** Reads `Retry-After`: seconds or a date (RFC 9110, 10.2.3). 0: no pause, or no value that it can have. */
function pauseOf(retryAfter: string, nowMs: number): number {
  const seconds = /^\d+$/.test(retryAfter) ? Number(retryAfter) : (Date.parse(retryAfter) - nowMs) / 1000;
  return seconds > 0 ? Math.min(Math.ceil(seconds), MAX_PAUSE_SECONDS) : 0;
}

async function sign(secret: string, text: string): Promise<string> {
  const bytes = Uint8Array.fromBase64(secret.replace("whsec_", ""));
  const key = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const mac = await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(text));
  return new Uint8Array(mac).toBase64();
}
