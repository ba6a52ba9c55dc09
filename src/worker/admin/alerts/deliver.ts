/** Sends each alert to the webhook at least once, as Standard Webhooks specifies (ADR-28). */
import { waitUntil } from "cloudflare:workers";
import { type Database, type DatabaseEnv, openDatabase } from "../../db/database.ts";
import { logError, logEvent } from "../../platform/log.ts";
import { settingsOf, type Webhook } from "../../platform/settings.ts";
import { nowSeconds, rfc3339 } from "../../text/time.ts";
import { claimDueAlerts, type DueAlert, markDelivered, markNotDelivered } from "./sql.ts";

/**
 * The alerts of a batch are sent at the same time, so that the batch ends before they are due again. An
 * invocation has six connections.
 */
const ALERTS_PER_BATCH = 5;
const MAX_BATCHES = 20;
const TIMEOUT_MS = 10_000;

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
    const due = await claimDueAlerts(db, nowSeconds(), ALERTS_PER_BATCH);
    const logFailure = (thrown: unknown) => logError("alerts_not_delivered", thrown);
    await Promise.all(due.map((alert) => deliver(db, webhook, alert, consoleUrl).catch(logFailure)));
    return due.length;
  } catch (thrown) {
    logError("alerts_not_delivered", thrown);
    return 0;
  }
}

/** Sends the alert, and stores the result. */
export async function deliver(
  db: Database,
  webhook: Webhook,
  { id, type, at, keyId, ...alert }: DueAlert,
  consoleUrl: string | undefined,
): Promise<Sent> {
  const link = consoleUrl === undefined ? "" : ` ${consoleUrl}/keys/${keyId}`;
  // `insertAlert` made this text.
  const data = JSON.parse(alert.data) as Payload["data"];
  const payload = { type, timestamp: rfc3339(at), data, text: `${plain(alert.text)}${link}` };
  const sent = await send(webhook, id, payload);
  if (sent.error === null) await markDelivered(db, id, nowSeconds());
  else {
    logEvent("alert_not_delivered", { alert: id, error: sent.error });
    await markNotDelivered(db, id, sent.error);
  }
  return sent;
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

export type Sent = {
  readonly delivered: boolean;
  /** The status of the answer; null without an answer. */
  readonly status: number | null;
  /** The reason of a failure. It never has the address, which can be a secret. */
  readonly error: string | null;
};

/** A redirect is a failure, because the alert is for this address only. */
export async function send({ url, secret }: Webhook, id: string, payload: Payload): Promise<Sent> {
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
        "webhook-id": id,
        "webhook-timestamp": timestamp,
        "webhook-signature": `v1,${signature}`,
      },
      body,
    });
    await response.body?.cancel().catch(() => undefined);
    const { ok, status } = response;
    return { delivered: ok, status, error: ok ? null : `status ${status}` };
  } catch {
    return { delivered: false, status: null, error: timeout.signal.aborted ? "timeout" : "unreachable" };
  } finally {
    clearTimeout(timer);
  }
}

async function sign(secret: string, text: string): Promise<string> {
  const bytes = Uint8Array.fromBase64(secret.replace("whsec_", ""));
  const key = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const mac = await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(text));
  return new Uint8Array(mac).toBase64();
}
