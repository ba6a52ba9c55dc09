/** `/console/plans` lists the plans. A plan's own address has the form that changes its limits, too. */
import { Hono } from "hono";
import { auditCalls } from "../../../admin/audit/calls.ts";
import { planCalls } from "../../../admin/plans/calls.ts";
import { alertsAt, LIMITS, limitsInWords, type PlanView, planUpdate } from "../../../admin/plans/schema.ts";
import { inputOf } from "../../../admin/serve.ts";
import { requireWriter } from "../../../admin/sign-in/require-admin.ts";
import type { AppEnv } from "../../../context.ts";
import { notFound } from "../../../platform/errors.ts";
import { formatDay, formatNumber, planName } from "../../../text/format.ts";
import { Done } from "../../kit/done.tsx";
import { answerForm, type Failure, FailureNotice, FormButtons } from "../../kit/failure.tsx";
import { Fields } from "../../kit/fields.tsx";
import { addressOf, doneAddress, effectIn, isDone, sendForm } from "../../kit/forms.ts";
import { labelOf } from "../../kit/labels.ts";
import { textsOf } from "../../kit/members.ts";
import { type ConsoleContext, docsUrl, page } from "../../kit/page.tsx";
import { PreviewPanel, previewOf } from "../../kit/preview.tsx";
import { Basis, type Column, NONE, ShownCount, Table } from "../../kit/ui.tsx";

export const planPages = new Hono<AppEnv>()
  .get("/", (c) => plansPage(c))
  .get("/:id", (c) => {
    requireWriter(c.var);
    return plansPage(c);
  })

  .post("/:id", (c) => {
    const id = c.req.param("id");
    return answerForm(c, id, plansPage, async (typed) => {
      const preview = await previewOf(c, planCalls.update, typed, { id });
      if (preview) return preview;
      const plan = await sendForm(c, planCalls.update, typed, { id });
      return c.redirect(doneAddress("/console/plans", id, plan), 303);
    });
  });

async function plansPage(c: ConsoleContext, failure?: Failure) {
  const { plans } = await planCalls.list.run(inputOf(c, {}));
  const id = c.req.param("id");
  const open = plans.find((plan) => plan.id === id);
  if (id !== undefined && open === undefined) throw notFound("No plan has this id.");
  const changed = plans.find((plan) => isDone(c, plan.id, plan));
  const query = { object: changed?.id, limit: 1 };
  const { audit } = changed ? await auditCalls.list.run(inputOf(c, { query })) : { audit: [] };
  return page(
    c,
    { title: "Plans", status: failure?.status ?? 200 },
    <>
      {changed && (
        <Done
          subject={`Plan ${planName(changed.id)}`}
          version={changed.version}
          entries={audit}
          effective={effectIn(c)}
          mayUndo={!c.var.mayOnlyRead}
        />
      )}
      <p class="muted">
        The request limits of each plan. A key's own limits override those of its plan. <em>Of each key</em>:
        the plan has no limit, and each of its keys has its own.{" "}
        <a href={docsUrl("operate.md#plans")}>More about plans</a>
      </p>
      <Table caption="Plans" columns={columnsFor(c)} rows={plans} empty="There is no plan." />
      {open && <PlanForm plan={open} failure={failure} />}
    </>,
  );
}

function columnsFor(c: ConsoleContext): readonly Column<PlanView>[] {
  const limits = LIMITS.map((name) => ({
    name: labelOf(name),
    isNumber: true,
    cell: ({ [name]: limit }: PlanView) => (limit === null ? "of each key" : formatNumber(limit)),
  }));
  const change = ({ id }: PlanView) => (
    <a href={`/console/plans/${id}`}>
      Change <span class="sr-only">{planName(id)}</span>
    </a>
  );
  return [
    { name: "Plan", cell: ({ id }) => planName(id) },
    ...limits,
    {
      name: "Keys",
      isNumber: true,
      cell: ({ id, keys }) => (
        <a href={addressOf("/console/keys", { plan: id })}>
          <ShownCount value={keys} />
        </a>
      ),
    },
    { name: "Alerts", cell: ({ alertPercents }) => alertsAt(alertPercents) },
    {
      name: "Last change",
      cell: ({ id, changedAt }) =>
        changedAt === null ? (
          NONE
        ) : (
          <a href={addressOf("/console/audit", { object: id })}>{formatDay(changedAt)}</a>
        ),
    },
    ...(c.var.mayOnlyRead ? [] : [{ name: "Action", isClear: true, cell: change }]),
  ];
}

const OWN = { alertPercents: { hint: "As in 80, 100. Empty: none." } };

function PlanForm({ plan, failure }: { readonly plan: PlanView; readonly failure: Failure | undefined }) {
  const { id, version } = plan;
  const shown = textsOf(planUpdate, plan);
  const action = `/console/plans/${id}`;
  return (
    <div class={failure?.preview && "columns"}>
      <form method="post" action={action} class="panel" aria-label={`Plan ${planName(id)}`}>
        <div class="section-head">
          <h2>Change {planName(id)}</h2>
        </div>
        <FailureNotice failure={failure} />
        <Basis version={version} texts={shown} />
        <Fields
          schema={planUpdate}
          form={id}
          names={[LIMITS, "alertPercents"]}
          own={OWN}
          texts={shown}
          failure={failure}
          isFocused={failure === undefined}
        />
        <FormButtons failure={failure} tone="primary" back="/console/plans">
          Preview the change
        </FormButtons>
      </form>
      {failure?.preview && (
        <PreviewPanel
          preview={failure.preview}
          action={action}
          button={`Set ${limitsInWords(failure.preview.body) || "alerts"} for ${planName(id)}`}
          back="/console/plans"
        />
      )}
    </div>
  );
}
