/** `alerts …`: what the service tells the alert webhook. */
import type { Command } from "commander";
import { call } from "../api.ts";
import { choice } from "../arguments.ts";
import { CliError } from "../io.ts";
import { addCommand, addList, type Session, show } from "../session.ts";

export function addAlertCommands(program: Command, session: Session): void {
  const alerts = program.command("alerts").description("list the alerts, test the webhook");

  const columns = ["at", "text", "type", "state", "attempts", "nextAttemptAt", "lastError"];
  const does = "the alerts, newest first, and whether they arrived";
  const list = { path: "/alerts", rows: "alerts", columns } as const;
  addList(alerts, session, "list", does, list, "--state failed").addOption(
    choice("--state <state>", ["pending", "delivered", "failed", "all"]).default("all"),
  );

  addCommand(alerts, "test", "send a test alert to the webhook now").action(async () => {
    const answer = await call<{ delivered: boolean }>(session.access, "POST /alerts/test");
    show(session, answer);
    if (!answer.body.delivered) throw new CliError("The test alert did not arrive.");
  });
}
