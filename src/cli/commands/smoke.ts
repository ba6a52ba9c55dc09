/** `smoke`: after a deploy, whether the service does what it promises. */
import type { Command } from "commander";
import { ExitCode } from "../io.ts";
import { printable } from "../printable.ts";
import { print, type Session, widthOf } from "./session.ts";
import { runSmokeTest, type StepResult } from "./smoke-test.ts";
import { table } from "./table.ts";

export function addSmokeCommand(program: Command, session: () => Session): void {
  program
    .command("smoke")
    .description("check a deployment: health, key, limit, list, cancel; with a key and an order of its own")
    .action(async () => {
      const { access, io } = session();
      const steps = await runSmokeTest(access, (text) => io.stderr.write(printable(`${text}\n`)));
      const ok = steps.every((each) => each.ok);
      print(
        session(),
        session().json ? JSON.stringify({ ok, steps }) : await describe(steps, widthOf(session().io.stdout)),
      );
      if (!ok) throw new ExitCode(1);
    });
}

function describe(steps: readonly StepResult[], width: number): Promise<string> {
  const columns = [{ label: "" }, { label: "step" }, { label: "ms" }, { label: "result", min: 20 }];
  const rows = steps.map(({ ok, step, ms, detail }) => [ok ? "ok" : "FAILED", step, ms, detail]);
  return table(columns, rows, width);
}
