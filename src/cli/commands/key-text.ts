/** Keys, their live usage and their daily usage as text. */
import * as v from "valibot";
import { arrayOf, count, effective, limits, pageOf, textOrNull } from "./answers.ts";
import { facts } from "./print.ts";
import type { List } from "./session.ts";
import type { Column } from "./table.ts";

const secret = v.object({ id: v.string(), hint: v.string(), expiresAt: textOrNull });

const keyMembers = {
  id: v.string(),
  name: v.string(),
  ownerName: textOrNull,
  ownerEmail: textOrNull,
  note: textOrNull,
  plan: v.string(),
  status: v.string(),
  limits,
  requestsPerMinute: v.nullable(count),
  requestsPerDay: v.nullable(count),
  expiresAt: textOrNull,
  createdAt: v.string(),
  location: textOrNull,
  firstUsedAt: textOrNull,
  lastUsedDay: textOrNull,
  secrets: arrayOf(secret),
};

const liveWindow = v.object({ used: count, limit: count, resetsAt: v.string() });

/** Null: the limiter cannot be reached. */
const live = v.nullable(
  v.object({
    minute: liveWindow,
    day: liveWindow,
    strikes: count,
    ban: v.nullable(v.object({ cause: v.string(), reason: textOrNull, endsAt: v.string() })),
  }),
);

export const keyShape = v.object(keyMembers);
export const keysShape = v.object({ keys: arrayOf(keyShape) });
export const keyPageShape = v.object({ ...keysShape.entries, ...pageOf(v.string()) });
export const newKeyShape = v.object({ ...keyMembers, key: v.string() });
export const changedKeyShape = v.object({ ...keyMembers, ...effective });
export const rotatedKeyShape = v.object({ ...changedKeyShape.entries, key: v.string() });
export const keyWithLiveShape = v.object({ ...keyMembers, live });

export type Key = v.InferOutput<typeof keyShape>;
type Secret = v.InferOutput<typeof secret>;
type Live = v.InferOutput<typeof live>;
type LiveWindow = v.InferOutput<typeof liveWindow>;

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

export function listOfKeys({ keys, next }: v.InferOutput<typeof keyPageShape>): List {
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

export function describeKey(key: Key): string {
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

function ownerOf({ ownerName, ownerEmail }: Key): string | null {
  return ownerName !== null && ownerEmail !== null
    ? `${ownerName} <${ownerEmail}>`
    : (ownerName ?? ownerEmail);
}

/** The key as a question names it. */
export function nameOf(key: Key): string {
  return `Key ${key.id} (${key.name}, plan ${key.plan}, ${useOf(key)})`;
}

/** Usage is deleted in the end, and that of the last minutes is not reported yet. */
function useOf({ firstUsedAt, lastUsedDay }: Key): string {
  if (lastUsedDay !== null) return `last used ${lastUsedDay}`;
  return firstUsedAt === null ? "never used" : `first used ${firstUsedAt}`;
}

function describeSecret(secret: Secret): string {
  if (secret.expiresAt === null) return `${secret.id} ${secret.hint}`;
  return `${secret.id} ${secret.hint} ${isValid(secret) ? "until" : "expired at"} ${secret.expiresAt}`;
}

function isValid({ expiresAt }: Secret): boolean {
  return expiresAt === null || Date.parse(expiresAt) > Date.now();
}

export function secretOf({ key }: { key: string }): string {
  return `The key, shown only now:\n\n  ${key}`;
}

export function describeChanged(key: Key & { effective: string }): string {
  return `${describeKey(key)}\n\nEffective ${key.effective}.`;
}

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
