/** `bans …`: listing, setting and lifting bans. */
import type { Command } from "commander";
import type { BanView } from "../../worker/admin/bans/schema.ts";
import { choice, seconds } from "../arguments.ts";
import type { Column } from "../output.ts";
import { addKeyCommand, addList, type KeyCall, type Session } from "../session.ts";

const STATE: Column<BanView> = ["state", (ban) => (ban.live ? "live" : "past")];
const TIMES = ["startedAt", "endsAt", "liftedAt"];
const COLUMNS = ["keyName", STATE, "cause", "strikes", ...TIMES, "liftedBy", "reason"];

export function addBanCommands(program: Command, session: Session): void {
  const bans = program.command("bans").description("list, set and lift bans");
  const list = { path: "/bans", rows: "bans", columns: COLUMNS } as const;
  const lists = "bans, newest first, and who lifted them";
  addList(bans, session, "list", lists, list, "--state live", "--key acme")
    .addOption(choice("--state <state>", ["live", "past", "all"]).default("all"))
    .option("--key <key>", "only the bans of this key");

  const sets = "ban a key; replaces its live ban, also a longer one";
  const set = (options: { for: number; reason: string }): KeyCall => {
    return { line: "PUT /ban", json: { seconds: options.for, reason: options.reason } };
  };
  addKeyCommand(bans, session, "set", sets, set, "--for 1h --reason flood")
    .requiredOption("--for <duration>", "as in 1h", seconds)
    .requiredOption("--reason <text>", "why; it is kept with the ban");

  const lifts = "end the live ban of a key; the next ban for strikes is a first one again";
  addKeyCommand(bans, session, "lift", lifts, () => ({ line: "DELETE /ban" }));
}
