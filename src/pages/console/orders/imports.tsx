/** The imports of orders, newest first. */
import { useEffect } from "preact/hooks";
import { formatNumber } from "../../shared/format.ts";
import { jsonOf } from "../admin-client.ts";
import { useAdmin } from "../admin-context.ts";
import type { ImportView } from "../api-types.ts";
import { WhenLoaded } from "../components/notices.tsx";
import { type Column, Table } from "../components/table.tsx";
import { Time } from "../components/time.tsx";
import { useLoad } from "../use-load.ts";

const IMPORTS_SHOWN = 20;

/** Gets `end` when an import of this tab has ended. Its page can have been left since, and opened again. */
export const importEnds = new EventTarget();

export function Imports() {
  const { client } = useAdmin();
  const load = () =>
    jsonOf(client.orders.imports.$get({ query: { limit: String(IMPORTS_SHOWN) } }), "imports");
  const loaded = useLoad(load, "");
  const { reload } = loaded;
  useEffect(() => {
    importEnds.addEventListener("end", reload);
    return () => importEnds.removeEventListener("end", reload);
  }, [reload]);
  return (
    <section>
      <h2>Last imports</h2>
      <WhenLoaded loaded={loaded}>
        {({ imports }) => (
          <Table
            caption="Last imports"
            columns={COLUMNS}
            rows={imports}
            rowKey={(each) => each.id}
            empty="No orders were imported yet."
          />
        )}
      </WhenLoaded>
    </section>
  );
}

const COLUMNS: readonly Column<ImportView>[] = [
  { name: "File", cell: (each) => each.file ?? "–" },
  { name: "When", cell: (each) => <Time iso={each.startedAt} /> },
  { name: "Who", cell: (each) => each.actor },
  { name: "Inserted", isNumber: true, cell: (each) => formatNumber(each.inserted) },
  { name: "Updated", isNumber: true, cell: (each) => formatNumber(each.updated) },
  { name: "Left cancelled", isNumber: true, cell: (each) => formatNumber(each.cancelled) },
  { name: "Reinserted", isNumber: true, cell: (each) => formatNumber(each.reinserted) },
  { name: "Backwards", isNumber: true, cell: (each) => formatNumber(each.backwards) },
  { name: "Refused", isNumber: true, cell: refusedText },
];

function refusedText({ refused, stopped }: ImportView): string {
  return `${formatNumber(refused)}${stopped ? ", stopped" : ""}`;
}
