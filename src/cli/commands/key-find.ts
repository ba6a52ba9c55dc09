/** `keys find`: whose key this is, by a secret that stays on this machine, by its hint, or by the key's id. */
import { createHash } from "node:crypto";
import { type Command, Option } from "commander";
import { isWellFormedKey, keyIn } from "../../worker/auth/key-format.ts";
import { ArgumentsError } from "../admin-client.ts";
import { textInAddress } from "./arguments.ts";
import { readLine } from "./confirm.ts";
import { describeKey, keysShape } from "./key-text.ts";
import { type Session, show } from "./session.ts";

type Search = { id?: string; hint?: string };

export function addFind(keys: Command, session: () => Session): void {
  keys
    .command("find")
    .description("the key of the secret on standard input; the secret is not sent")
    .option("--id <id>", "the key with this id", textInAddress)
    .addOption(
      new Option("--hint <hint>", "a masked secret, or at least its last 4 characters")
        .argParser(textInAddress)
        .conflicts("id"),
    )
    .action(async ({ id, hint }: Search) => {
      const json =
        id !== undefined ? { id } : hint !== undefined ? { hint } : { hash: await readHash(session()) };
      await show(session(), session().client.keys.find.$post({ json }), keysShape, ({ keys: found }) =>
        found.length === 0 ? "No key is found." : found.map(describeKey).join("\n\n"),
      );
    });
}

async function readHash({ io }: Session): Promise<string> {
  if (io.isInteractive) io.stderr.write("The secret, which stays on this machine: ");
  const secret = keyIn(await readLine(io));
  if (secret === undefined || !isWellFormedKey(secret)) {
    throw new ArgumentsError(
      "Standard input has no whole secret, or a mistyped one. --hint takes the end of one.",
    );
  }
  return createHash("sha256").update(secret).digest("hex");
}
