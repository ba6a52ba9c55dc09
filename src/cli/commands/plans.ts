/** `plans …`: the limits of each plan. */
import { Argument, type Command } from "commander";
import { PLAN_IDS } from "../../worker/db/values.ts";
import { type LimitArgument, limitOrNone, limitsBody, requireChange } from "./arguments.ts";
import { confirm, YES } from "./confirm.ts";
import { facts } from "./print.ts";
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
    .option(...YES)
    .action(async (id: string, options: PlanLimits & { yes?: boolean }) => {
      const json = limitsBody(options);
      requireChange(json);
      await confirm(session(), options, () => describeChange(session(), id, options));
      await show(session(), session().client.plans[":id"].$patch({ param: { id }, json }), (plan) =>
        facts([
          ["plan", plan.id],
          ["a minute", plan.requestsPerMinute],
          ["a day", plan.requestsPerDay],
          ["effective", plan.effective],
        ]),
      );
    });
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
