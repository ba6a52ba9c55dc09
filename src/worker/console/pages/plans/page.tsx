/** `/console/plans` shows the plans, and changes their limits. */
import { Hono } from "hono";
import { auditCalls } from "../../../admin/audit/calls.ts";
import { planCalls } from "../../../admin/plans/calls.ts";
import { alertsAt, LIMITS, limitsInWords, type PlanView, planUpdate } from "../../../admin/plans/schema.ts";
import { inputOf } from "../../../admin/serve.ts";
import type { AppEnv } from "../../../context.ts";
import { counted } from "../../../text/format.ts";
import { Done } from "../../kit/done.tsx";
import { answerForm, type Failure, FailureNotice, FormButtons } from "../../kit/failure.tsx";
import { Fields } from "../../kit/fields.tsx";
import { addressOf, doneAddress, effectIn, isDone, sendForm } from "../../kit/forms.ts";
import { labelOf } from "../../kit/labels.ts";
import { textsOf } from "../../kit/members.ts";
import { type ConsoleContext, docsUrl, page } from "../../kit/page.tsx";
import { APPLY, PreviewPanel, previewOf } from "../../kit/preview.tsx";
import { Basis, Definitions } from "../../kit/ui.tsx";
import { textsBefore, UndoForm } from "../../kit/undo.tsx";

export const planPages = new Hono<AppEnv>()
  .get("/", (c) => plansPage(c))
  .get("/:id", (c) => c.redirect("/console/plans"))

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
  const changed = plans.find((plan) => isDone(c, plan.id, plan));
  const query = { object: changed?.id, limit: 1 };
  const { audit } = changed ? await auditCalls.list.run(inputOf(c, { query })) : { audit: [] };
  return page(
    c,
    { title: "Plans", status: failure?.status ?? 200 },
    <>
      {changed && (
        <Done
          call={planCalls.update}
          subject={`The plan ${changed.id}`}
          change={audit[0]}
          effective={effectIn(c)}
        >
          {!c.var.mayOnlyRead && audit[0] && (
            <UndoForm
              action={`/console/plans/${changed.id}`}
              version={changed.version}
              typed={{ ...textsBefore(audit[0]), ...APPLY }}
            />
          )}
        </Done>
      )}
      <p class="muted">
        The request limits of each plan. A key's own limits override those of its plan. An empty limit: each
        key of the plan has its own. <a href={docsUrl("operate.md#plans")}>More about plans</a>
      </p>
      <div class="plans">
        {plans.map((plan) =>
          c.var.mayOnlyRead ? (
            <div class="panel">
              <Head plan={plan} />
              <Definitions
                facts={[
                  ...LIMITS.map((name) => [labelOf(name), plan[name] ?? "–"] as const),
                  ["Alerts", alertsAt(plan.alertPercents)],
                ]}
              />
            </div>
          ) : (
            <PlanForm plan={plan} failure={failure?.action === plan.id ? failure : undefined} />
          ),
        )}
      </div>
    </>,
  );
}

function Head({ plan: { id, keys } }: { readonly plan: PlanView }) {
  return (
    <div class="section-head">
      <h2>{id}</h2>
      <a href={addressOf("/console/keys", { plan: id })}>{counted(keys, "key")}</a>
    </div>
  );
}

const OWN = { alertPercents: { hint: "As in 80, 100. Empty: none." } };

function PlanForm({ plan, failure }: { readonly plan: PlanView; readonly failure: Failure | undefined }) {
  const { id, version } = plan;
  const shown = textsOf(planUpdate, plan);
  const action = `/console/plans/${id}`;
  const form = (
    <form method="post" action={action} class="panel" aria-label={`Plan ${id}`}>
      <Head plan={plan} />
      <FailureNotice failure={failure} />
      <Basis version={version} texts={shown} kept={failure?.kept} />
      <Fields
        schema={planUpdate}
        form={id}
        names={[LIMITS, "alertPercents"]}
        own={OWN}
        texts={shown}
        failure={failure}
      />
      <FormButtons failure={failure} tone="" back={failure && "/console/plans"}>
        Preview
      </FormButtons>
    </form>
  );
  if (failure?.preview === undefined) return form;
  return (
    <div>
      {form}
      <PreviewPanel
        preview={failure.preview}
        action={action}
        button={`Set ${limitsInWords(failure.preview.body) || "alerts"} for ${id}`}
        back="/console/plans"
      />
    </div>
  );
}
