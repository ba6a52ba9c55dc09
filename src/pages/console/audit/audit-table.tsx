/** Audit entries as a table. */
import type { AuditEntry } from "../api-types.ts";
import { type Column, Table } from "../components/table.tsx";
import { Time } from "../components/time.tsx";
import { addressOf } from "../query.ts";

type Query = Readonly<Record<string, string>>;

type Props = {
  readonly entries: readonly AuditEntry[];
  /** The filters that links to more entries keep. */
  readonly query?: Query;
  readonly empty?: string;
};

export function AuditTable({ entries, query = {}, empty = "No entries." }: Props) {
  return (
    <Table
      caption="Audit log"
      columns={columnsOf(query)}
      rows={entries}
      rowKey={(entry) => String(entry.id)}
      empty={empty}
    />
  );
}

function columnsOf(query: Query): readonly Column<AuditEntry>[] {
  const filtered = (by: Query) => addressOf("/console/audit", { ...query, ...by, before: "" });
  return [
    { name: "When", cell: (entry) => <Time iso={entry.at} /> },
    { name: "Object", cell: (entry) => <ObjectLink object={entry.object} /> },
    { name: "Who", cell: ({ actor }) => <a href={filtered({ actor })}>{actor}</a> },
    {
      name: "Call",
      cell: ({ call }) => (
        <a href={filtered({ call })}>
          <code>{call}</code>
        </a>
      ),
    },
    { name: "Before", cell: (entry) => <Members value={entry.before} /> },
    { name: "After", cell: (entry) => <Members value={entry.after} /> },
  ];
}

function ObjectLink({ object }: { readonly object: string }) {
  if (object.startsWith("key_")) return <a href={`/console/keys/${object}`}>{object}</a>;
  if (/^-?\d+$/.test(object)) return <a href={`/console/orders/${object}`}>order {object}</a>;
  return <>{object}</>;
}

/** The members of an object, one a line. */
export function Members({ value }: { readonly value: unknown }) {
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
