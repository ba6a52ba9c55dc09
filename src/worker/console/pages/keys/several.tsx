/** Changes several keys: ticks beside keys, a page that says what would change, and its one button. */
import type { PropsWithChildren } from "hono/jsx";
import { auditCalls } from "../../../admin/audit/calls.ts";
import type { AuditView } from "../../../admin/audit/schema.ts";
import { checked } from "../../../admin/http/request-validation.ts";
import { dryRun } from "../../../admin/http/schemas.ts";
import { keyCalls } from "../../../admin/keys/calls.ts";
import { type ChangedKeys, type KeyView, keySelection, planOfKeys } from "../../../admin/keys/schema.ts";
import { limitsInWords } from "../../../admin/plans/schema.ts";
import { inputOf } from "../../../admin/serve.ts";
import { PLAN_IDS } from "../../../db/values.ts";
import { invalidRequest } from "../../../platform/errors.ts";
import { counted, planName } from "../../../text/format.ts";
import { EntryUndo } from "../../kit/done.tsx";
import { answerForm, type Failure } from "../../kit/failure.tsx";
import { addressOf, ask, receiveForm } from "../../kit/forms.ts";
import { Tick, TickForm } from "../../kit/list.tsx";
import type { FormTexts } from "../../kit/members.ts";
import { type ConsoleContext, page } from "../../kit/page.tsx";
import { APPLY, HiddenFields } from "../../kit/preview.tsx";
import { Check, type Column, countColumn, Day, Lines, Notice, Table } from "../../kit/ui.tsx";

type Several = {
  /** Absent: `keyCalls.plan`, which has a body of its own. */
  readonly call?: (typeof keyCalls)["disable" | "enable" | "revokeSeveral"];
  readonly button: string;
  /** What the keys are after the change. */
  readonly done: string;
};

const CHANGES: Readonly<Record<string, Several>> = {
  plan: { button: "Change plan", done: "on another plan" },
  disable: { call: keyCalls.disable, button: "Disable", done: "disabled" },
  enable: { call: keyCalls.enable, button: "Enable", done: "enabled" },
  revoke: { call: keyCalls.revokeSeveral, button: "Revoke", done: "revoked" },
};

function changeOf(name = ""): Several | undefined {
  return Object.hasOwn(CHANGES, name) ? CHANGES[name] : undefined;
}

/** A change of several keys that was made, or refused. The page of the keys shows it. */
export type SeveralOutcome = { readonly failure?: Failure; readonly made?: Made };
type Made = {
  readonly keys: ChangedKeys;
  /** The entry of one of the keys. */
  readonly entry: AuditView | undefined;
};

export function KeysForm({ hasMore, children }: PropsWithChildren<{ readonly hasMore?: boolean }>) {
  const buttons = (
    <>
      <span data-ticked="With">With ticked keys</span>
      <select name="plan" aria-label="Plan">
        <option value="">Plan …</option>
        {PLAN_IDS.map((plan) => (
          <option value={plan}>{planName(plan)}</option>
        ))}
      </select>
      <input
        name="planFrom"
        size={16}
        placeholder="now, or 2027-01-01"
        aria-label="First day of the plan (UTC)"
      />
      {Object.entries(CHANGES).map(([name, { button }]) => (
        <button type="submit" name="change" value={name} class="button small">
          {button}
        </button>
      ))}
    </>
  );
  return (
    <TickForm noun="key" buttons={buttons} hasMore={hasMore}>
      {children}
    </TickForm>
  );
}

/** Puts a tick before the first column. A revoked key cannot change. */
export function withTicks<Key extends KeyView>(
  columns: readonly Column<Key>[],
  failure: Failure | undefined,
): Column<Key>[] {
  return columns.map((column, i) => ({
    ...column,
    cell: (key) =>
      i === 0 ? (
        <>
          <Tick id={key.id} label={`Tick ${key.name}`} isOff={key.status === "revoked"} failure={failure} />
          {column.cell(key)}
        </>
      ) : (
        column.cell(key)
      ),
  }));
}

/** Answers the form with what would change, and the form of that page with what has changed. */
export function changeTicked<C extends ConsoleContext>(
  c: C,
  pageWith: (c: C, outcome: SeveralOutcome) => Response | Promise<Response>,
  /** Returns the ids of all keys that match the filter of the list. */
  findMatching: () => Promise<readonly string[]> = async () => [],
): Promise<Response> {
  return answerForm(
    c,
    "several",
    (_, failure) => pageWith(c, { failure }),
    async ({ change: name = "", plan = "", planFrom = "", all, apply }) => {
      const several = changeOf(name);
      if (several === undefined) throw invalidRequest("Choose what to change.");
      if (name === "plan" && plan === "") throw invalidRequest("Choose the plan.");
      const ids = all === undefined ? (await receiveForm(c)).getAll("ids") : await findMatching();
      if (ids.length === 0) throw invalidRequest("Tick the keys to change.");
      const from = planFrom === "" ? {} : { planFrom };
      const change = name === "plan" ? { change: name, plan, ...from } : { change: name };
      const keys = await runOf(c, several.call, { ids, ...change }, apply === undefined);
      if (apply === undefined) return previewPage(c, several, change, keys);
      const { requestId: batch } = c.var.author;
      const [entry] = (await ask(c, auditCalls.list, { batch, limit: "1" })).audit;
      return pageWith(c, { made: { keys, entry } });
    },
  );
}

async function runOf(
  c: ConsoleContext,
  call: Several["call"],
  { change: _, ...sent }: Readonly<Record<string, unknown>>,
  isDryRun: boolean,
): Promise<ChangedKeys> {
  const query = checked(c.env, dryRun, { "dry-run": String(isDryRun) });
  if (call === undefined) {
    return keyCalls.plan.run(inputOf(c, { query, body: checked(c.env, planOfKeys, sent) }));
  }
  return call.run(inputOf(c, { query, body: checked(c.env, keySelection, sent) }));
}

function previewPage(
  c: ConsoleContext,
  { button, done }: Several,
  change: FormTexts,
  { changed, unchanged }: ChangedKeys,
) {
  const isRevocation = done === "revoked";
  const title = `${button}: ${counted(changed.length, "key")}`;
  const from = change.planFrom ? ` from ${change.planFrom} on` : "";
  const toPlan = change.plan && planName(change.plan) + from;
  return page(
    c,
    { title },
    <div class="panel">
      {isRevocation && changed.length > 0 && (
        <p>Every request with these keys is a 401 from now on. This cannot be undone.</p>
      )}
      <form method="post">
        {changed.map(({ id }) => (
          <input type="hidden" name="ids" value={id} />
        ))}
        <HiddenFields typed={{ ...change, ...APPLY }} />
        {isRevocation && changed.length > 0 && (
          <Check name="sure" label="Revoke them for good" attributes={{ required: true }} />
        )}
        <div class="row">
          {changed.length > 0 && (
            <button type="submit" class={isRevocation ? "button danger" : "button primary"}>
              {button}
              {toPlan
                ? ` of ${counted(changed.length, "key")} to ${toPlan}`
                : ` ${counted(changed.length, "key")}`}
            </button>
          )}
          <a class="button" href={addressOf(c.req.path, c.req.query())}>
            Cancel
          </a>
        </div>
      </form>
      <Table
        caption="Keys that would change"
        columns={[
          { name: "Key", cell: ({ id, name }) => <a href={`/console/keys/${id}`}>{name}</a> },
          { name: "Now", isClear: true, cell: ({ was }) => (toPlan ? planName(was) : was) },
          { name: "Then", isClear: true, cell: () => `→ ${toPlan ?? done}` },
          { name: "Limits", cell: ({ limits }) => limitsInWords(limits) },
          countColumn("Today", ({ admittedToday }: ChangedKeys["changed"][number]) => admittedToday),
          { name: "Last used", cell: ({ lastUsedDay }) => <Day iso={lastUsedDay} /> },
        ]}
        rows={changed}
        empty="No key would change."
      />
      <Lines text={unchanged.map(({ name, reason }) => `Unchanged: ${name} ${reason}.`).join("\n")} />
    </div>,
  );
}

export function SeveralDone({ made }: { readonly made: Made | undefined }) {
  if (made === undefined) return null;
  const { unchanged, says } = made.keys;
  return (
    <Notice kind={unchanged.length === 0 ? "good" : "warn"}>
      <Lines text={says} />
      {made.entry && <EntryUndo entry={made.entry} isTogether />}
    </Notice>
  );
}
