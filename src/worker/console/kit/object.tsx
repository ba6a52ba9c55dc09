/**
 * The page of an object: what can be done to it, the open form, what the last form did, and its history. An entry of
 * the history says in one sentence what somebody did, and lists what changed. A deed is one entry or several entries.
 */
import type { Child, PropsWithChildren } from "hono/jsx";
import type { AuditView } from "../../admin/audit/schema.ts";
import type { Effective } from "../../admin/refresh-limiters.ts";
import { saysOf, withNames } from "../../admin/says.ts";
import { planName } from "../../text/format.ts";
import { type Members, membersOf, memberText, sentenceOf, textOf, wordsOf } from "../../text/says.ts";
import { type ActionContext, ActionForm, ActionLinks, type Offered } from "./actions.tsx";
import type { Failure } from "./failure.tsx";
import { addressOf, effectIn, isDone } from "./forms.ts";
import type { FormTexts } from "./members.ts";
import { page } from "./page.tsx";
import { APPLY, HiddenFields } from "./preview.tsx";
import { Notice, Submit, Time } from "./ui.tsx";

type ObjectPage<Shown> = {
  readonly title: string;
  /** How sentences name the object, if not as the title does. */
  readonly subject?: string;
  /** What stands beside the title. */
  readonly head?: Child;
  /** Undefined: nothing can be done. */
  readonly offered: Offered<Shown>;
  readonly failure: Failure | undefined;
  /** The last entries of the object. */
  readonly entries: readonly AuditView[];
  /** What the entry of the last change does not say. */
  readonly more?: Child;
};

export function objectPage<Shown>(
  c: ActionContext,
  { title, subject = title, head, offered, failure, entries, more }: ObjectPage<Shown>,
  content: Child,
) {
  const open = openIn(c, failure);
  const mayUndo = !c.var.mayOnlyRead;
  const { version } = offered;
  const actions = (
    <>
      {head}
      {mayUndo && offered.actions.length > 0 && <ActionLinks of={offered} open={open} />}
    </>
  );
  return page(
    c,
    { title, actions, status: failure?.status ?? 200 },
    <>
      {isDone(c, offered) && (
        <Done {...{ subject, version, entries, mayUndo }} effective={effectIn(c)}>
          {more}
        </Done>
      )}
      <ActionForm of={offered} open={open} failure={failure} />
      {content}
    </>,
  );
}

/** The action whose form is shown. */
export function openIn(c: ActionContext, failure: Failure | undefined): string | undefined {
  return failure?.action ?? c.req.param("action");
}

type HistoryProps = { readonly entries: readonly AuditView[]; readonly mayUndo: boolean };

export function History({ entries, mayUndo }: HistoryProps) {
  return (
    <section>
      <h2>History</h2>
      {entries.length === 0 && <p class="muted">No operator has changed this.</p>}
      <ol class="feed">
        {deedsIn(entries).map((deed) => (
          <Entry deed={deed} when={<Time iso={deed[0].at} />} mayUndo={mayUndo} />
        ))}
      </ol>
    </section>
  );
}

type DoneProps = {
  readonly subject: string;
  /** The version of the object, which is the id of the entry that made it. */
  readonly version: number | string;
  readonly entries: readonly AuditView[];
  readonly effective?: Effective;
  readonly mayUndo: boolean;
};

/** The children say what the entry of the object does not. */
function Done({ subject, version, entries, effective, mayUndo, children }: PropsWithChildren<DoneProps>) {
  const entry = entries.find(({ id }) => String(id) === String(version));
  if (entry === undefined) return null;
  return (
    <Notice kind="good">
      <p>
        {sentenceOf(subject, saysOf(entry), effective)} {children}
      </p>
      {mayUndo && <EntryUndo entry={entry} />}
    </Notice>
  );
}

type UndoProps = {
  readonly entry: AuditView;
  /** Whether the other changes of its batch are undone, too. */
  readonly isTogether?: boolean;
};

/** A load is undone as a whole, after a preview. */
export function EntryUndo({ entry: { id, call, undoable }, isTogether = false }: UndoProps) {
  if (!undoable) return null;
  const isLoad = call === "orders.load" || call === "audit.undo";
  const together = isTogether && !isLoad ? { together: "true" } : {};
  return <UndoForm typed={{ entry: String(id), ...together, ...(isLoad ? {} : APPLY) }} />;
}

export function UndoForm({ typed }: { readonly typed: FormTexts }) {
  return (
    <form method="post" action="/console/audit">
      <HiddenFields typed={typed} />
      <Submit tone="small">Undo</Submit>
    </form>
  );
}

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
