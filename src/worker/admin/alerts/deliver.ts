/** Sends each alert to the webhook at least once, as Standard Webhooks specifies (ADR-28). */
import { waitUntil } from "cloudflare:workers";
import { type Database, type DatabaseEnv, openDatabase } from "../../db/database.ts";
import { logError, logEvent } from "../../platform/log.ts";
import { settingsOf, type Webhook } from "../../platform/settings.ts";
import { HOUR_SECONDS, nowSeconds, rfc3339 } from "../../text/time.ts";
import type { SentAlert } from "./schema.ts";
import {
  ALERTS_PER_BATCH,
  type Attempt,
  claimDueAlerts,
  type DueAlert,
  noteAnswer,
  SECONDS_BETWEEN,
  TIMEOUT_SECONDS,
} from "./sql.ts";

/** After an answer, Cloudflare lets the Worker go on for 30 s. What is due later is left to the cron. */
const MAX_SLEEP_MS = 30_000;
const MAX_BATCHES = 40;
/** A receiver that asks for a longer pause is asked again after this time. */
const MAX_PAUSE_SECONDS = HOUR_SECONDS;

const USER_AGENT = "Store-Orders-Alerts/1.0";

/** Sends an alert that was just stored. The caller does not wait, and sees no failure of the webhook. */
export function deliverSoon(env: DatabaseEnv): void {
  if (settingsOf(env).webhook !== undefined) waitUntil(deliverDueAlerts(env));
}

/**
 * Sends every alert that is due; the cron calls it every minute. Never rejects: an alert that was not sent is
 * due again later.
 */
export async function deliverDueAlerts(env: DatabaseEnv): Promise<void> {
  const { webhook, consoleUrl } = settingsOf(env);
  if (webhook === undefined) return;
  try {
    for (let batch = 0; batch < MAX_BATCHES; batch++) {
      const sleepMs = (await deliverBatch(openDatabase(env.DB), webhook, consoleUrl)) - Date.now();
      if (sleepMs > MAX_SLEEP_MS) return;
      if (sleepMs > 0) await new Promise((resume) => setTimeout(resume, sleepMs));
    }
  } catch (thrown) {
    logError("alerts_not_delivered", thrown);
  }
}

/**
 * Sends the alerts of a batch at the same time. Returns when the next batch may be sent, in Unix milliseconds;
 * infinite, if no alert is left or another sender goes on.
 */
async function deliverBatch(db: Database, webhook: Webhook, consoleUrl: string | undefined): Promise<number> {
  const { due, attempt } = await claimDueAlerts(db, await receiverId(webhook), nowSeconds());
  const logFailure = (thrown: unknown) => logError("alerts_not_delivered", thrown);
  const sent = await Promise.all(
    due.map((alert) => deliver(db, webhook, alert, consoleUrl, attempt).catch(logFailure)),
  );
  const pausedUntilMs = Math.max(0, ...sent.map((each) => (each?.pausedUntil ?? 0) * 1000));
  if (due.length > 0 && attempt === "alone") {
    return Math.max(pausedUntilMs, Date.now() + SECONDS_BETWEEN * 1000);
  }
  return pausedUntilMs > Date.now() || due.length === ALERTS_PER_BATCH ? pausedUntilMs : Infinity;
}

/** Sends the alert, and stores the answer. */
async function deliver(
  db: Database,
  webhook: Webhook,
  { id, type, at, keyId, ...alert }: DueAlert,
  consoleUrl: string | undefined,
  attempt: Attempt,
): Promise<Noted> {
  // `insertAlert` made this text.
  const data = JSON.parse(alert.data) as Payload["data"] & { customer: { id: string } | null };
  const page = keyId === null ? `customers/${data.customer?.id}` : `keys/${keyId}`;
  const link = consoleUrl === undefined ? "" : ` ${consoleUrl}/${page}`;
  const timestamp = rfc3339(at);
  // An alert can arrive hours after what it tells of, and after a later alert.
  const text = `${plain(alert.text)} (${timestamp.replace("T", " ").replace("Z", " UTC")})${link}`;
  const sent = await send(webhook, id, { type, timestamp, data, text });
  if (sent.error !== null) logEvent("alert_not_delivered", { alert: id, error: sent.error });
  return note(db, webhook, id, sent, attempt);
}

/** Sends a test alert. A receiver that accepts it gets alerts again. */
export async function deliverTest(db: Database, webhook: Webhook, actor: string): Promise<Noted> {
  const text = "This is a test alert of Store Orders. Alerts arrive here.";
  const payload = { type: "test", timestamp: rfc3339(nowSeconds()), data: { actor }, text };
  const sent = await send(webhook, `test_${crypto.randomUUID()}`, payload);
  return note(db, webhook, undefined, sent, "by hand");
}

async function note(
  db: Database,
  webhook: Webhook,
  id: string | undefined,
  { pausedUntil, ...sent }: Answered,
  attempt: Attempt,
): Promise<Noted> {
  const answeredAt = nowSeconds();
  const answer = {
    answeredAt,
    error: sent.error,
    isGone: sent.status === 410,
    isBusy: sent.status === 429 && pausedUntil > 0,
    pausedUntil,
  };
  const untilThen = await noteAnswer(db, await receiverId(webhook), id, answer, attempt);
  return { sent: { ...sent, at: rfc3339(answeredAt) }, pausedUntil: untilThen };
}

/** Names the receiver in D1 without its address. */
export function receiverId({ url, secrets: [secret] }: Webhook): Promise<string> {
  return sign(secret, url);
}

/** Chats read `<…>` and `@…` as a link or a mention, and a name may have these characters. */
function plain(text: string): string {
  return text.replaceAll("<", "‹").replaceAll(">", "›").replaceAll("@", "＠");
}

type Payload = {
  readonly type: string;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, string | number | null>>;
  readonly text: string;
};

/** `at` is when the answer came, or the attempt failed. `error` never has the address, which can be a secret. */
type Delivery = Readonly<Omit<SentAlert, "says">>;

/** Until when the receiver asked to wait, in Unix seconds. 0: it did not. */
type Answered = Omit<Delivery, "at"> & { readonly pausedUntil: number };
/** Until when nothing more is sent. */
type Noted = { readonly sent: Delivery; readonly pausedUntil: number };

/** A redirect is a failure, because the alert is for this address only. */
async function send(webhook: Webhook, id: string, payload: Payload): Promise<Answered> {
  const { url, secrets, format } = webhook;
  const timestamp = String(nowSeconds());
  const body = JSON.stringify(format === "text" ? { text: payload.text } : payload);
  const signatures = secrets.map(async (secret) => `v1,${await sign(secret, `${id}.${timestamp}.${body}`)}`);
  const signature = (await Promise.all(signatures)).join(" ");
  // Not `AbortSignal.timeout`: its timer would keep an object in memory after the answer.
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), TIMEOUT_SECONDS * 1000);
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
        "webhook-signature": signature,
      },
      body,
    });
    await response.body?.cancel().catch(() => undefined);
    const { ok, status } = response;
    if (ok) return { delivered: true, status, error: null, pausedUntil: 0 };
    const pausedUntil = endOfPause(response.headers.get("Retry-After") ?? "", Date.now() / 1000);
    return { delivered: false, status, error: `status ${status}`, pausedUntil };
  } catch {
    const error = timeout.signal.aborted ? "timeout" : "unreachable";
    return { delivered: false, status: null, error, pausedUntil: 0 };
  } finally {
    clearTimeout(timer);
  }
}

/** Reads `Retry-After`: seconds or a date (RFC 9110, 10.2.3). 0: no pause, or no value that it can have. */
function endOfPause(retryAfter: string, now: number): number {
  const end = /^\d+$/.test(retryAfter) ? now + Number(retryAfter) : Date.parse(retryAfter) / 1000;
  return end > now ? Math.ceil(Math.min(end, now + MAX_PAUSE_SECONDS)) : 0;
}

async function sign(secret: string, text: string): Promise<string> {
  const bytes = Uint8Array.fromBase64(secret.replace("whsec_", ""));
  const key = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const mac = await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(text));
  return new Uint8Array(mac).toBase64();
}
