/** `plans …`: the limits of each plan. */
import { Argument, type Command } from "commander";
import type { PlanView } from "../../worker/admin/plans/schema.ts";
import { PLAN_IDS } from "../../worker/db/values.ts";
import { call } from "../api.ts";
import { bodyOf, confirm, numberOrNone, PER_DAY, PER_MINUTE, YES } from "../arguments.ts";
import { inline } from "../output.ts";
import { addCommand, addList, type Session, show } from "../session.ts";

export function addPlanCommands(program: Command, session: Session): void {
  const plans = program.command("plans").description("list and change the limits of the plans");
  const columns = ["id", "requestsPerMinute", "requestsPerDay", "keys"];
  const list = { path: "/plans", rows: "plans", columns, cursor: null } as const;
  addList(plans, session, "list", "the limits of each plan, and how many keys it has", list);

  addCommand(plans, "set", "change the limits of a plan for all its keys", "pro --per-day 20000")
    .addArgument(new Argument("<plan>", "which plan").choices(PLAN_IDS))
    .option(PER_MINUTE, "a number; none: each key needs its own", numberOrNone)
    .option(PER_DAY, "a number; none: each key needs its own", numberOrNone)
    .option(...YES)
    .action(async (id: string, { yes, ...limits }: { yes?: boolean }) => {
      const json = bodyOf(limits);
      await confirm(session.io, yes, async () => {
        const { body } = await call<{ plans: PlanView[] }>(session.access, "GET /plans");
        const { keys, requestsPerMinute, requestsPerDay } = body.plans.find((each) => each.id === id) ?? {};
        const now = inline({ requestsPerMinute, requestsPerDay });
        return `Plan ${id}, which ${keys} keys have, has ${now}. It gets ${inline(json)}.`;
      });
      show(session, await call<PlanView>(session.access, `PATCH /plans/${id}`, { json }));
    });
}
