/** Stores alerts of expiries, lists alerts, and sends a test alert. */
import type { Bindings } from "../../context.ts";
import { insertExpiryAlerts } from "../../db/alerts-sql.ts";
import { openDatabase } from "../../db/database.ts";
import { conflict } from "../../errors.ts";
import { logError } from "../../log.ts";
import { settingsOf } from "../../settings.ts";
import { nowSeconds, rfc3339, rfc3339OrNull } from "../../time.ts";
import { type Sent, send } from "./deliver.ts";
import type { AlertView } from "./schema.ts";
import { type AlertFilter, type AlertRow, listAlerts, stateOf } from "./sql.ts";

/** Every hour. */
export async function alertOfExpiries(env: Bindings): Promise<void> {
  if (settingsOf(env).webhook === undefined) return;
  try {
    await openDatabase(env.DB).run(insertExpiryAlerts(nowSeconds()));
  } catch (thrown) {
    logError("expiry_alerts_not_stored", thrown);
  }
}

export type AlertPage = {
  readonly alerts: readonly AlertView[];
  /** Where to go on; null on the last page. */
  readonly next: { readonly value: number; readonly id: string } | null;
  readonly configured: boolean;
};

export async function findAlerts(env: Bindings, filter: AlertFilter): Promise<AlertPage> {
  const rows = await listAlerts(openDatabase(env.DB), filter);
  const last = rows.length < filter.limit ? undefined : rows.at(-1);
  return {
    alerts: rows.map(toView),
    next: last ? { value: last.at, id: last.id } : null,
    configured: settingsOf(env).webhook !== undefined,
  };
}

function toView({ data: _, ...row }: AlertRow): AlertView {
  return {
    ...row,
    at: rfc3339(row.at),
    state: stateOf(row),
    nextAttemptAt: rfc3339OrNull(row.nextAttemptAt),
    deliveredAt: rfc3339OrNull(row.deliveredAt),
  };
}

/** Sent at once, and not stored. */
export async function sendTestAlert(env: Bindings, actor: string): Promise<Sent> {
  const { webhook } = settingsOf(env);
  if (webhook === undefined) {
    throw conflict("No webhook is configured: set ALERT_WEBHOOK_URL and ALERT_WEBHOOK_SECRET.");
  }
  const text = "This is a test alert of Store Orders. Alerts arrive here.";
  const payload = { type: "test", timestamp: rfc3339(nowSeconds()), data: { actor }, text };
  return send(webhook, `test_${crypto.randomUUID()}`, payload);
}
