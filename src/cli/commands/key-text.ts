/** Keys, their live usage and their daily usage as text. */
import type { KeyView, SecretView } from "../../worker/db/key-repository.ts";
import { facts } from "./print.ts";
import type { List } from "./session.ts";
import type { Column } from "./table.ts";

const COLUMNS: readonly Column[] = [
  { label: "id" },
  { label: "name", min: 14 },
  { label: "owner", min: 10, drop: 6 },
  { label: "plan" },
  { label: "status" },
  { label: "a minute", drop: 1 },
  { label: "a day", drop: 2 },
  { label: "expires", drop: 3 },
  { label: "last used", drop: 4 },
  { label: "secrets", min: 10, drop: 5 },
];

export function listOfKeys(keys: readonly KeyView[], next: string | null): List {
  return {
    columns: COLUMNS,
    rows: keys.map((key) => [
      key.id,
      key.name,
      key.ownerName ?? key.ownerEmail,
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
    next: ["--after", next],
  };
}

export function describeKey(key: KeyView): string {
  const own = (limit: number | null) => (limit === null ? "the plan's" : "its own");
  return facts([
    ["id", key.id],
    ["name", key.name],
    ["owner", ownerOf(key)],
    ["note", key.note],
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

function ownerOf({ ownerName, ownerEmail }: KeyView): string | null {
  return ownerName !== null && ownerEmail !== null
    ? `${ownerName} <${ownerEmail}>`
    : (ownerName ?? ownerEmail);
}

/** The key as a question names it. */
export function nameOf({ id, name, plan, lastUsedDay }: KeyView): string {
  return `Key ${id} (${name}, plan ${plan}, ${lastUsedDay === null ? "never used" : `last used ${lastUsedDay}`})`;
}

function describeSecret(secret: SecretView): string {
  if (secret.expiresAt === null) return `${secret.id} ${secret.hint}`;
  return `${secret.id} ${secret.hint} ${isValid(secret) ? "until" : "expired at"} ${secret.expiresAt}`;
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
