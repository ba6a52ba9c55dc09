/** Audit entries as a table. */
import type { AuditEntry } from "../api-types.ts";
import { type Column, Table } from "../components/table.tsx";
import { Time } from "../components/time.tsx";

const WHEN: Column<AuditEntry> = { name: "When", cell: (entry) => <Time iso={entry.at} /> };
const OBJECT: Column<AuditEntry> = { name: "Object", cell: (entry) => <ObjectLink object={entry.object} /> };
const OTHERS: readonly Column<AuditEntry>[] = [
  { name: "Who", cell: (entry) => entry.actor },
  { name: "Call", cell: (entry) => <code>{entry.call}</code> },
  { name: "Before", cell: (entry) => <Members value={entry.before} /> },
  { name: "After", cell: (entry) => <Members value={entry.after} /> },
];

/** The audit of one object needs no column for it. */
export function AuditTable({
  entries,
  isOfOneObject = false,
}: {
  readonly entries: readonly AuditEntry[];
  readonly isOfOneObject?: boolean;
}) {
  return (
    <Table
      caption="Audit log"
      columns={isOfOneObject ? [WHEN, ...OTHERS] : [WHEN, OBJECT, ...OTHERS]}
      rows={entries}
      rowKey={(entry) => String(entry.id)}
      empty="No entries."
    />
  );
}

function ObjectLink({ object }: { readonly object: string }) {
  if (object.startsWith("key_")) return <a href={`/console/keys/${object}`}>{object}</a>;
  if (/^-?\d+$/.test(object)) return <a href={`/console/orders/${object}`}>order {object}</a>;
  return <>{object}</>;
}

/** The members of an object, one a line. */
function Members({ value }: { readonly value: unknown }) {
  if (value === null || value === undefined) return <>–</>;
  if (typeof value !== "object") return <>{String(value)}</>;
  return (
    <ul class="members">
      {Object.entries(value).map(([name, member]) => (
        <li key={name}>
          <span class="muted">{name}</span> {textOf(member)}
        </li>
      ))}
    </ul>
  );
}

function textOf(member: unknown): string {
  if (member === null) return "–";
  return typeof member === "string" ? member : JSON.stringify(member);
}
