/** `bans …`: listing, setting and lifting bans. */
import type { Command } from "commander";
import type { BanView } from "../../worker/admin/bans/sql.ts";
import { choice, seconds } from "../arguments.ts";
import { type Column, describe } from "../output.ts";
import { addKeyCommand, addList, type Session } from "../session.ts";

const COLUMNS: readonly Column<BanView>[] = [
  "keyName",
  ["state", (ban) => (ban.live ? "live" : "past")],
  ...["cause", "strikes", "startedAt", "endsAt", "liftedAt", "liftedBy", "reason"],
];

export function addBanCommands(program: Command, session: Session): void {
  const bans = program.command("bans").description("list, set and lift bans");
  const examples = ["bans list --state live", "bans list --key acme"] as const;
  const list = { path: "/bans", rows: "bans", columns: COLUMNS } as const;
  addList(bans, session, ["list", "bans, newest first, and who lifted them", ...examples], list)
    .addOption(choice("--state <state>", ["live", "past", "all"]).default("all"))
    .option("--key <key>", "only the bans of this key");

  const sets = "ban a key; replaces its live ban, also a longer one";
  const set = ["set <key>", sets, "bans set acme --for 1h --reason flood"] as const;
  const toCall = (options: { for: number; reason: string }) => {
    return { line: "PUT /ban", json: { seconds: options.for, reason: options.reason } };
  };
  addKeyCommand(bans, session, set, toCall)
    .requiredOption("--for <duration>", "as in 1h", seconds)
    .requiredOption("--reason <text>", "why; it is kept with the ban");

  const lifts = "end the live ban of a key; the next ban for strikes is a first one again";
  const render = (answer: { lifted: BanView | null }) => {
    const text = describe(answer, session.io.columns);
    return answer.lifted === null ? `There was no live ban to lift.\n${text}` : text;
  };
  const lift = ["lift <key>", lifts, "bans lift acme"] as const;
  addKeyCommand(bans, session, lift, () => ({ line: "DELETE /ban" }), render);
}
