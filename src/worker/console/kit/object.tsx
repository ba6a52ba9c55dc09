/** The page of an object: what can be done to it, the open form, what the last form did, and its history. */
import type { Child } from "hono/jsx";
import type { AuditView } from "../../admin/audit/schema.ts";
import { type ActionContext, ActionForm, ActionLinks, type Offered } from "./actions.tsx";
import { Done } from "./done.tsx";
import { deedsIn, Entry } from "./entry.tsx";
import type { Failure } from "./failure.tsx";
import { effectIn, isDone } from "./forms.ts";
import { page } from "./page.tsx";
import { Time } from "./ui.tsx";

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
