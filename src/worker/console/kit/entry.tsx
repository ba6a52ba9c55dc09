/** Says in one sentence what somebody did, and lists what changed. A deed is one entry or several entries. */
import type { Child } from "hono/jsx";
import type { AuditView } from "../../admin/audit/schema.ts";
import { saysOf, withNames } from "../../admin/says.ts";
import { planName } from "../../text/format.ts";
import { type Members, membersOf, memberText, textOf, wordsOf } from "../../text/says.ts";
import { EntryUndo } from "./done.tsx";
import { addressOf } from "./forms.ts";

/** The newest entry is the first. */
type Deed = readonly [AuditView, ...AuditView[]];

/** Joins the entries of one batch about which one sentence is true. */
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
  if (entry.call !== later.call || entry.actor !== later.actor || batchOf(entry) !== batchOf(later))
    return false;
  // The sentence leaves out what was before if it differs. That of a file adds up figures.
  const [says, laterSays] = [entry, later].map((each) => saysOf({ ...each, before: null }));
  return entry.object === "orders" || says === laterSays;
}

/** Entries before version 2.3 have no batch. */
function batchOf({ batch, after, requestId }: AuditView): unknown {
  return batch ?? membersOf(after).load ?? requestId;
}

type EntryProps = {
  readonly deed: Deed;
  /** The time in the form of the list around the entry. */
  readonly when: Child;
  readonly mayUndo: boolean;
};

export function Entry({ deed, when, mayUndo }: EntryProps) {
  const [{ actor }] = deed;
  const isAlike = deed.every((entry) => saysOf(entry) === saysOf(deed[0]));
  return (
    <li>
      {when} <a href={addressOf("/console/audit", { actor })}>{actor}</a>: {subjectOf(deed)}{" "}
      {saysOf({ ...deed[0], ...(isAlike ? {} : { before: null }), after: afterOf(deed) })}
      <details>
        <summary>Details</summary>
        <Differences deed={deed} />
        {mayUndo && (
          <EntryUndo entry={deed.find(({ undoable }) => undoable) ?? deed[0]} isTogether={deed.length > 1} />
        )}
        <p class="muted">
          {deed.length === 1 ? "Entry" : "Entries"} <code>{deed.map(({ id }) => id).join(" ")}</code>, request{" "}
          <code>{[...new Set(deed.map(({ requestId }) => requestId))].join(" ")}</code>
        </p>
      </details>
    </li>
  );
}

type Difference = readonly [name: string, was: unknown, is: unknown];

function Differences({ deed }: { readonly deed: Deed }) {
  const differences = deed.toReversed().flatMap((entry) => {
    const object = deed.length > 1 && linkOf(entry) ? `${entry.objectName ?? entry.object}, ` : "";
    return differencesOf(entry).map(([name, was, is]): Difference => [`${object}${name}`, was, is]);
  });
  if (differences.length === 0) return null;
  return (
    <ul class="differences">
      {differences.map(([name, was, is]) => (
        <li>
          {name}: {was !== undefined && <del>{memberText(name, was)}</del>}
          {was !== undefined && is !== undefined && " → "}
          {is !== undefined && <ins>{memberText(name, is)}</ins>}
        </li>
      ))}
    </ul>
  );
}

/** Leaves out members without a value on both sides. A side that the entry lacks is undefined. */
function differencesOf({ before, after, names: customers }: AuditView): readonly Difference[] {
  const [was, is] = [withNames(before, customers), withNames(after, customers)];
  if (Array.isArray(is.statuses))
    return is.statuses.map(membersOf).map(({ id, from, to }) => [`order ${textOf(id)}`, from, to]);
  const names = [...new Set([...Object.keys(was), ...Object.keys(is)])];
  const side = (members: Members, whole: unknown, name: string) =>
    whole === null ? undefined : (members[name] ?? null);
  return names
    .filter((name) => (was[name] ?? is[name] ?? null) !== null)
    .map((name) => [wordsOf(name), side(was, before, name), side(is, after, name)]);
}

/** The subject of the sentence, with links. Objects that were changed together are one subject. */
function subjectOf(deed: Deed): Child {
  const [entry] = deed;
  const { call, object } = entry;
  const [noun = ""] = call.split(".");
  const link = linkOf(entry);
  if (call === "audit.undo") return `the load of ${textOf(membersOf(entry.after).file ?? "orders")}`;
  if (object === noun) return noun === "keys" ? "all keys" : noun;
  // A customer who was merged is gone.
  if (link === null && noun === "customers") return textOf(membersOf(entry.before).name ?? object);
  if (link === null) return noun === "plans" ? `plan ${planName(object)}` : object;
  if (deed.length === 1) return noun === "orders" ? ["order ", link] : link;
  // Without a count, as the next page can have more of them.
  const links = deed.toReversed().map((each, i) => [i > 0 && ", ", linkOf(each)]);
  return [`each of the ${noun === "orders" ? "orders" : "keys"} `, ...links.flat()];
}

/** Null: the object has no page of its own. */
function linkOf({ call, object, objectName }: AuditView): Child {
  const [noun = ""] = call.split(".");
  if (object === noun || ["audit", "links", "plans", "sessions"].includes(noun)) return null;
  if (noun === "orders") return <a href={`/console/orders/${object}`}>{object}</a>;
  if (noun === "customers" && objectName === null) return null;
  return <a href={`/console/${noun === "customers" ? noun : "keys"}/${object}`}>{objectName ?? object}</a>;
}

/** Adds up the figures of the batches of a file. */
function afterOf([newest, ...earlier]: Deed): Members {
  return earlier.reduce((sum, { after }) => {
    const members = membersOf(after);
    const added = Object.entries(sum).map(([name, value]) => [
      name,
      typeof value === "number" ? value + Number(members[name] ?? 0) : value,
    ]);
    return Object.fromEntries(added);
  }, membersOf(newest.after));
}
