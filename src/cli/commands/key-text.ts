/** Keys, their live usage and their daily usage as text. */
import type { KeyView, SecretView } from "../../worker/db/key-repository.ts";
import { bar, facts, table } from "./print.ts";

export function tableOfKeys(keys: readonly KeyView[], width: number): string {
  return table(
    ["id", "name", "plan", "status", "a minute", "a day", "expires", "last used", "secrets"],
    keys.map((key) => [
      key.id,
      key.name,
      key.plan,
      key.status,
      key.limits.requestsPerMinute,
      key.limits.requestsPerDay,
      key.expiresAt,
      key.lastUsedDay,
      key.secrets
        .filter(isValid)
        .map((secret) => secret.hint)
        .join(" "),
    ]),
    width,
  );
}

export function describeKey(key: KeyView): string {
  const own = (limit: number | null) => (limit === null ? "the plan's" : "its own");
  return facts([
    ["id", key.id],
    ["name", key.name],
    ["plan", key.plan],
    ["status", key.status],
    ["a minute", `${key.limits.requestsPerMinute} (${own(key.requestsPerMinute)})`],
    ["a day", `${key.limits.requestsPerDay} (${own(key.requestsPerDay)})`],
    ["expires", key.expiresAt],
    ["created", key.createdAt],
    ["last used", key.lastUsedDay],
    ["location", key.location ?? "near its first request"],
    ...key.secrets.map((secret) => ["secret", describeSecret(secret)] as const),
  ]);
}

function describeSecret(secret: SecretView): string {
  if (secret.expiresAt === null) return secret.hint;
  return `${secret.hint} ${isValid(secret) ? "until" : "expired at"} ${secret.expiresAt}`;
}

function isValid({ expiresAt }: SecretView): boolean {
  return expiresAt === null || Date.parse(expiresAt) > Date.now();
}

export function secretOf({ key }: { key: string }): string {
  return `The key, shown only now:\n\n  ${key}`;
}

export function describeChanged(key: KeyView & { effective: string }): string {
  return `${describeKey(key)}\n\nEffective ${key.effective}.`;
}

type LiveWindow = { used: number; limit: number; resetsAt: string };

type Live = {
  minute: LiveWindow;
  day: LiveWindow;
  strikes: number;
  ban: { cause: string; reason: string | null; endsAt: string } | null;
} | null;

export function describeLive(live: Live): string {
  if (!live) return "The limiter of this key cannot be reached, so its live usage is unknown.";
  const window = ({ used, limit, resetsAt }: LiveWindow) => `${used} of ${limit}, until ${resetsAt}`;
  return facts([
    ["minute", window(live.minute)],
    ["day", window(live.day)],
    ["strikes", live.strikes],
    [
      "ban",
      live.ban &&
        `until ${live.ban.endsAt}, by ${live.ban.cause}${live.ban.reason ? `: ${live.ban.reason}` : ""}`,
    ],
  ]);
}

type DayFigures = { day: string; admitted: number; refused: number; refusedWhileBanned: number };

export function usageChart(days: readonly DayFigures[]): string {
  const max = Math.max(...days.map((day) => day.admitted));
  return days
    .map(({ day, admitted, refused, refusedWhileBanned }) => {
      const refusals = [
        ...(refused > 0 ? [`${refused} refused`] : []),
        ...(refusedWhileBanned > 0 ? [`${refusedWhileBanned} while banned`] : []),
      ];
      return [
        day,
        bar(admitted, max),
        String(admitted),
        ...(refusals.length > 0 ? [`(${refusals.join(", ")})`] : []),
      ]
        .filter((part) => part !== "")
        .join(" ");
    })
    .join("\n");
}
