/** `plans …`: the limits of each plan. */
import { Argument, type Command } from "commander";
import type { Effective } from "../../worker/admin/effective.ts";
import type { PlanPreview } from "../../worker/admin/plan-service.ts";
import type { PlanView } from "../../worker/db/plan-repository.ts";
import { PLAN_IDS } from "../../worker/db/values.ts";
import { type LimitArgument, limitOrNone, limitsBody, requireChange } from "./arguments.ts";
import { confirm, YES } from "./confirm.ts";
import { type Cell, facts } from "./print.ts";
import { bodyOf, type Session, show, showList } from "./session.ts";

export function addPlanCommands(program: Command, session: () => Session): void {
  const plans = program.command("plans").description("list and change the limits of the plans");

  plans
    .command("list")
    .description("the limits of each plan, and how many keys it has")
    .action(() =>
      showList(session(), session().client.plans.$get(), ({ plans: list }) => ({
        columns: [{ label: "plan" }, { label: "a minute" }, { label: "a day" }, { label: "keys" }],
        rows: list.map((plan) => [plan.id, plan.requestsPerMinute, plan.requestsPerDay, plan.keys]),
      })),
    );

  plans
    .command("set")
    .addArgument(new Argument("<plan>", "which plan").choices(PLAN_IDS))
    .description("change the limits of a plan for all its keys")
    .option("--per-minute <n>", "a number, or `none`: each key needs its own", limitOrNone)
    .option("--per-day <n>", "a number, or `none`: each key needs its own", limitOrNone)
    .option("--dry-run", "only show what would change", false)
    .option(...YES)
    .action(async (id: string, options: PlanLimits & { yes?: boolean; dryRun: boolean }) => {
      const json = limitsBody(options);
      requireChange(json);
      const query = options.dryRun ? { "dry-run": "" as const } : {};
      if (!options.dryRun) await confirm(session(), options, () => describeChange(session(), id, options));
      await show(session(), session().client.plans[":id"].$patch({ param: { id }, query, json }), (answer) =>
        "isDryRun" in answer ? describePreview(answer) : describePlan(answer),
      );
    });
}

function describePlan(plan: PlanView & { readonly effective: Effective }): string {
  return facts([...limitsOf(plan), ["effective", plan.effective]]);
}

function describePreview({ plan, keysRelying, keysInUse, refused }: PlanPreview): string {
  const inUse = `${keysInUse.isMinimum ? "at least " : ""}${keysInUse.count}`;
  return facts([
    ...limitsOf(plan),
    ["keys that rely on the limit a minute", keysRelying.requestsPerMinute ?? "not changed"],
    ["keys that rely on the limit a day", keysRelying.requestsPerDay ?? "not changed"],
    ["of these in use", inUse],
    ["the change", refused === null ? "would be made; this was a dry run" : `would be refused: ${refused}`],
  ]);
}

function limitsOf(plan: PlanView): [string, Cell][] {
  return [
    ["plan", plan.id],
    ["a minute", plan.requestsPerMinute],
    ["a day", plan.requestsPerDay],
  ];
}

type PlanLimits = { perMinute?: LimitArgument; perDay?: LimitArgument };

async function describeChange({ client, access }: Session, id: string, to: PlanLimits): Promise<string> {
  const { plans } = await bodyOf(access, client.plans.$get());
  const plan = plans.find((each) => each.id === id);
  const changes = [
    ...(to.perMinute === undefined
      ? []
      : [`${plan?.requestsPerMinute ?? "none"} → ${to.perMinute} a minute`]),
    ...(to.perDay === undefined ? [] : [`${plan?.requestsPerDay ?? "none"} → ${to.perDay} a day`]),
  ];
  return `Plan ${id}, which ${plan?.keys} keys have: ${changes.join(", ")}.`;
}
