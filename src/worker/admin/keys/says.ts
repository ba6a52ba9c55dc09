/** What each change of a key says. Pure: the command says it too. */
import { formatNumber } from "../../text/format.ts";
import {
  differences,
  listOf,
  type Members,
  membersOf,
  memberText,
  type Says,
  textOf,
} from "../../text/says.ts";

/** What a key may do, by its `mayCancel`. */
export const RIGHTS = { true: "may list and cancel orders", false: "may only list orders" };

export const KEYS_SAY = {
  "keys.create": (_, { plan, limits, mayCancel }) =>
    `is created on plan ${memberText("plan", plan)}${limitsIn(membersOf(limits))}${mayCancel === false ? `, and ${RIGHTS.false}` : ""}`,
  "keys.update": (before, { status, mayCancel, ...others }) =>
    [
      ...(status === undefined ? [] : [status === "active" ? "is enabled" : `is ${textOf(status)}`]),
      ...(mayCancel === undefined ? [] : [mayCancel === true ? RIGHTS.true : RIGHTS.false]),
      ...(Object.keys(others).length === 0 ? [] : [`is changed: ${differences(before, others)}`]),
    ].join(", and "),
  "keys.limit_temporarily": (_, { until, reason, ...limits }) =>
    `has temporary limits until ${textOf(until)}: ${listOf([...Object.entries(limits), ["reason", reason]])}`,
  "keys.end_temporary_limits": () => "has its permanent limits again",
  "keys.rotate": (_, { oldSecretsExpireAt }) =>
    `has a new secret; old secrets end ${textOf(oldSecretsExpireAt)}`,
  "keys.retire": ({ hint }) => `has the old secret ${textOf(hint)} no longer`,
  "keys.revoke": () => "is revoked",
  "keys.refresh": () => "is refreshed",
  "keys.refresh_all": () => "are refreshed",
} as const satisfies Readonly<Record<string, Says>>;

/** Returns when the last of the old secrets ends. A new secret has no end. */
export function lastEndOf(secrets: readonly { readonly expiresAt: string | null }[]): string | undefined {
  return secrets
    .flatMap(({ expiresAt }) => expiresAt ?? [])
    .sort()
    .at(-1);
}

/** The answer has the limits in force, and the audit log has only the limits of its own that a key has. */
function limitsIn({ requestsPerMinute, requestsPerDay }: Members): string {
  if (requestsPerMinute === undefined || requestsPerDay === undefined) return "";
  const [minute, day] = [requestsPerMinute, requestsPerDay].map((limit) => formatNumber(Number(limit)));
  return `, with ${minute} requests a minute and ${day} a day`;
}
