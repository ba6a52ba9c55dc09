/** Changes several keys: ticks beside keys, and a preview. */
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
import { counted, formatDay, formatNumber, planName } from "../../../text/format.ts";
import { answerForm, type Failure } from "../../kit/failure.tsx";
import { addressOf, ask } from "../../kit/forms.ts";
import { Tick, TickForm } from "../../kit/list.tsx";
import type { FormTexts } from "../../kit/members.ts";
import { EntryUndo } from "../../kit/object.tsx";
import type { ConsoleContext } from "../../kit/page.tsx";
import { type Preview, PreviewPanel } from "../../kit/preview.tsx";
import { Check, type Column, Lines, Notice } from "../../kit/ui.tsx";

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
export type SeveralOutcome = {
  readonly failure?: Failure | undefined;
  readonly made?: Made | undefined;
};
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

/** Answers the form with what would change, and the form of that preview with what has changed. */
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
    async ({ change = "", plan = "", planFrom = "", all, apply }, ticked) => {
      const several = changeOf(change);
      if (several === undefined) throw invalidRequest("Choose what to change.");
      if (change === "plan" && plan === "") throw invalidRequest("Choose the plan.");
      const ids = all === undefined ? ticked : await findMatching();
      if (ids.length === 0) throw invalidRequest("Tick the keys to change.");
      const from = planFrom === "" ? {} : { planFrom };
      const sent = change === "plan" ? { plan, ...from } : {};
      const keys = await runOf(c, several.call, { ids, ...sent }, apply === undefined);
      if (apply === undefined) return previewOfKeys(keys, several, { change, ...sent });
      const { requestId: batch } = c.var.author;
      const [entry] = (await ask(c, auditCalls.list, { batch, limit: "1" })).audit;
      return pageWith(c, { made: { keys, entry } });
    },
  );
}

async function runOf(
  c: ConsoleContext,
  call: Several["call"],
  sent: Readonly<Record<string, unknown>>,
  isDryRun: boolean,
): Promise<ChangedKeys> {
  const query = checked(c.env, dryRun, { "dry-run": String(isDryRun) });
  if (call === undefined) {
    return keyCalls.plan.run(inputOf(c, { query, body: checked(c.env, planOfKeys, sent) }));
  }
  return call.run(inputOf(c, { query, body: checked(c.env, keySelection, sent) }));
}

function previewOfKeys({ changed, unchanged }: ChangedKeys, { done }: Several, sent: FormTexts): Preview {
  const left = unchanged.map(({ name, reason }) => `Unchanged: ${name} ${reason}.`);
  if (changed.length === 0) throw invalidRequest(`No key would change. ${left.join(" ")}`);
  const effects = changed.map(({ name, was, limits, admittedToday, lastUsedDay }) => {
    const becomes = sent.plan ? `${planName(was)} → ${planIn(sent)}` : `${was} → ${done}`;
    const lastUse = lastUsedDay === null ? "never used" : `last used ${formatDay(lastUsedDay)}`;
    return `${name}: ${becomes}. ${limitsInWords(limits)}; ${formatNumber(admittedToday)} today, ${lastUse}.`;
  });
  const ids = changed.map(({ id }) => id).join(" ");
  return { effects: [...effects, ...left], sent: { ...sent, ids }, body: {} };
}

/** As in `Pro from 2027-01-01 on`. */
function planIn({ plan = "", planFrom }: FormTexts): string {
  return planName(plan) + (planFrom ? ` from ${planFrom} on` : "");
}

type ResultProps = SeveralOutcome & { readonly c: ConsoleContext };

/** What the change of the ticked keys has done, or would do. */
export function SeveralResult({ c, failure, made }: ResultProps) {
  if (made !== undefined) {
    return (
      <Notice kind={made.keys.unchanged.length === 0 ? "good" : "warn"}>
        <Lines text={made.keys.says} />
        {made.entry && <EntryUndo entry={made.entry} isTogether />}
      </Notice>
    );
  }
  const preview = failure?.action === "several" ? failure.preview : undefined;
  if (preview === undefined) return null;
  const { change, plan, ids = "" } = preview.sent;
  const keys = counted(ids.split(" ").length, "key");
  const isRevocation = change === "revoke";
  const here = addressOf(c.req.path, c.req.query());
  return (
    <PreviewPanel
      {...{ preview, action: here, back: here, isDangerous: isRevocation }}
      button={plan ? `Change ${keys} to ${planIn(preview.sent)}` : `${changeOf(change)?.button} ${keys}`}
    >
      {isRevocation && (
        <Check
          name="sure"
          label="Revoke them for good: this cannot be undone"
          attributes={{ required: true }}
        />
      )}
    </PreviewPanel>
  );
}
