/** `keys find` finds the key of a secret. A secret has the id of its key in it, and only the id is sent. */
import { createHash } from "node:crypto";
import type { Command } from "commander";
import type { KeyView } from "../../worker/admin/keys/schema.ts";
import { keyIn, parseKey } from "../../worker/key/key.ts";
import { decodeByMark } from "../../worker/text/text.ts";
import { call } from "../api.ts";
import { readLine } from "../arguments.ts";
import { bytesOf, CliError, type CliIo } from "../io.ts";
import { addCommand, groupOf, type Session, showKey } from "../session.ts";

export function addFindCommand(program: Command, session: Session): void {
  const does = "Show the key of the secret on standard input. The secret is not sent.";
  const keys = groupOf(program, "keys");
  addCommand(keys, "find", does, "keys find < secret.txt").action(async () => {
    const secret = keyIn(await readInput(session.io)) ?? "";
    const parsed = parseKey(secret);
    if (parsed === undefined) {
      throw new CliError("Standard input has no secret. `keys show` takes the end of one.", { exitCode: 2 });
    }
    const query = { ref: parsed.id };
    const { text, body } = await call<{ keys: KeyView[] }>(session.access, "GET /keys", { query });
    const [key] = body.keys;
    // Anybody can write a text with the id of a key in it. The id of a secret is the beginning of its hash.
    const hash = createHash("sha256").update(secret).digest("hex");
    if (!key?.secrets.some(({ id }) => hash.startsWith(id))) {
      throw new CliError("No key has this secret.", { code: "not_found" });
    }
    showKey(session, { text, body: key });
  });
}

/** A file may have a BOM, and be UTF-16, as PowerShell 5 writes it. */
async function readInput(io: CliIo): Promise<string> {
  if (!io.isInteractive) return decodeByMark(Buffer.concat(await Array.fromAsync(bytesOf(io, "-"))));
  io.stderr.write("The secret, which stays on this machine: ");
  return readLine(io);
}
