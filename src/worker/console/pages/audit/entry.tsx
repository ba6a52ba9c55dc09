/** Says in one sentence what somebody did, and lists what changed. A deed is one entry or several entries. */
import type { Child } from "hono/jsx";
import type { AuditView } from "../../../admin/audit/schema.ts";
import { formatNumber, formatTime } from "../../../text/format.ts";
import { addressOf } from "../../kit/forms.ts";
import { labelOf } from "../../kit/labels.ts";

/** The newest entry is the first. */
type Deed = readonly [AuditView, ...AuditView[]];

/** A file that is loaded again later is another deed. */
const MAX_MS_BETWEEN_BATCHES = 120_000;

/** Joins the entries of orders that were shipped together, and the batches of one file. */
export function deedsIn(entries: readonly AuditView[]): readonly Deed[] {
  const deeds: Deed[] = [];
  for (const entry of entries) {
    const deed = deeds.at(-1);
    const later = deed?.at(-1);
    if (deed && later && isSameDeed(entry, later)) deeds.splice(-1, 1, [...deed, entry]);
    else deeds.push([entry]);
  }
  return deeds;
}

function isSameDeed(entry: AuditView, later: AuditView): boolean {
  if (entry.call !== later.call || entry.actor !== later.actor) return false;
  if (entry.requestId === later.requestId) return true;
  const { file = null } = membersOf(entry.after);
  const isSoon = Date.parse(later.at) - Date.parse(entry.at) <= MAX_MS_BETWEEN_BATCHES;
  return file !== null && membersOf(later.after).file === file && isSoon;
}

/** `when` is the time in the form of the list around the entry. */
export function Entry({ deed, when }: { readonly deed: Deed; readonly when: Child }) {
  const [{ call, actor }] = deed;
  const isUpdate = call.endsWith(".update"); // its sentence names no member
  const differences = <Differences deed={deed} />;
  return (
    <li>
      {when} <a href={addressOf("/console/audit", { actor })}>{actor}</a> {sentenceOf(deed)}
      <details>
        <summary>Details</summary>
        {!isUpdate && differences}
        <p class="muted">
          Request <code>{[...new Set(deed.map(({ requestId }) => requestId))].join(" ")}</code>
        </p>
      </details>
      {isUpdate && differences}
    </li>
  );
}

type Difference = readonly [name: string, was: unknown, is: unknown];

function Differences({ deed }: { readonly deed: Deed }) {
  const differences = deed.toReversed().flatMap(differencesOf);
  if (differences.length === 0) return null;
  return (
    <ul class="differences">
      {differences.map(([name, was, is]) => (
        <li>
          {name}: {was !== undefined && <del>{text(was)}</del>}
          {was !== undefined && is !== undefined && " → "}
          {is !== undefined && <ins>{text(is)}</ins>}
        </li>
      ))}
    </ul>
  );
}

/** Leaves out members without a value on both sides. A side that the entry lacks is undefined. */
function differencesOf({ call, object, before, after }: AuditView): readonly Difference[] {
  const [was, is] = [membersOf(before), membersOf(after)];
  if (call === "orders.ship") return [[`order ${object}`, was.status, is.status]];
  if (Array.isArray(is.statuses))
    return is.statuses.map(membersOf).map(({ id, from, to }) => [`order ${text(id)}`, from, to]);
  const names = [...new Set([...Object.keys(was), ...Object.keys(is)])];
  const side = (members: Members, whole: unknown, name: string) =>
    whole === null ? undefined : (members[name] ?? null);
  return names
    .filter((name) => (was[name] ?? is[name] ?? null) !== null)
    .map((name) => [labelOf(name), side(was, before, name), side(is, after, name)]);
}

type Members = Readonly<Record<string, unknown>>;

type Told = {
  readonly object: string;
  /** Links to the object. */
  readonly key: Child;
  readonly order: Child;
  readonly was: Members;
  readonly is: Members;
  readonly deed: Deed;
};

/** These sentences say what somebody did, without who and when. */
const SENTENCES: Readonly<Record<string, (told: Told) => Child>> = {
  "keys.create": ({ key, is }) => ["created the key ", key, ` on plan ${text(is.plan)}`],
  "keys.update": ({ key }) => ["changed the key ", key],
  "keys.limit_temporarily": ({ key, is: { until, ...limits } }) => [
    "gave ",
    key,
    ` temporary limits until ${time(until)}: ${membersText(limits)}`,
  ],
  "keys.end_temporary_limits": ({ key }) => ["ended the temporary limits of ", key],
  "keys.rotate": ({ key, is }) => [
    "rotated the secret of ",
    key,
    `; old secrets end ${time(is.oldSecretsExpireAt)}`,
  ],
  "keys.retire": ({ key, was }) => [`retired the secret ${text(was.hint)} of `, key],
  "keys.revoke": ({ key }) => ["revoked the key ", key],
  "keys.tell": ({ key }) => ["told the limiter of ", key],
  "keys.tell_all": () => "told the limiters of all keys",
  "bans.set": ({ key, is }) => ["banned ", key, ` until ${time(is.endsAt)}: ${text(is.reason)}`],
  "bans.lift": ({ key, was }) => ["lifted the ban of ", key, `, whose scheduled end was ${time(was.endsAt)}`],
  "plans.update": ({ object }) => `changed the plan ${object}`,
  "orders.update": ({ order }) => ["changed ", order],
  "orders.ship": ({ deed }) => ["shipped ", ...shippedIn(deed)],
  "orders.delete": ({ order }) => ["deleted ", order],
  "orders.load": ({ deed }) => `loaded ${loadedIn(deed)}`,
};

function sentenceOf(deed: Deed): Child {
  const [{ call, object, objectName, before, after }] = deed;
  return (
    SENTENCES[call]?.({
      object,
      key: <a href={`/console/keys/${object}`}>{objectName ?? object}</a>,
      order: <a href={`/console/orders/${object}`}>order {object}</a>,
      was: membersOf(before),
      is: membersOf(after),
      deed,
    }) ?? `${call} ${object}`
  );
}

function membersOf(value: unknown): Members {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

function membersText(members: Members): string {
  const set = Object.entries(members).filter(([, value]) => value !== null);
  return set.map(([name, value]) => `${labelOf(name)} ${text(value)}`).join(", ");
}

const LOADED = ["inserted", "updated", "unchanged", "cancelled", "kept"] as const;

function loadedIn(deed: Deed): string {
  const batches = deed.map(({ after }) => membersOf(after));
  const sumOf = (name: string) => batches.reduce((sum, figures) => sum + Number(figures[name] ?? 0), 0);
  const counts = LOADED.map((name) => [sumOf(name), name] as const).filter(([sum]) => sum > 0);
  const file = typeof batches[0]?.file === "string" ? ` from ${batches[0].file}` : "";
  return `orders${file}: ${counts.map(([sum, name]) => `${formatNumber(sum)} ${name}`).join(", ")}`;
}

/** Links to the orders in the order of the batch. Without a count, as the next page can have more of them. */
function shippedIn(deed: Deed): Child[] {
  const links = deed
    .toReversed()
    .map(({ object }, i) => [i > 0 && ", ", <a href={`/console/orders/${object}`}>{object}</a>]);
  return [deed.length === 1 ? "order " : "orders ", ...links.flat()];
}

function time(value: unknown): string {
  return typeof value === "string" ? formatTime(value) : "–";
}

/** A number of 64 bits is raw JSON, so `JSON.stringify` writes all its digits. */
function text(value: unknown): string {
  if (value === null || value === undefined) return "none";
  if (typeof value !== "string") return JSON.stringify(value);
  return /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value) ? formatTime(value) : value;
}
