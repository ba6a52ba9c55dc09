/** The owners that a form suggests, so that one customer has one name. */
import { keyCalls } from "../../../admin/keys/calls.ts";
import { ask } from "../../kit/forms.ts";
import type { ConsoleContext } from "../../kit/page.tsx";

/** A page reads so many keys for its suggestions. Beyond them, a script asks for what is typed. */
const KEYS_READ = 200;

export async function knownOwners(c: ConsoleContext): Promise<readonly string[]> {
  const { keys } = await ask(c, keyCalls.list, { sort: "owner", limit: String(KEYS_READ) });
  return [...new Set(keys.flatMap(({ ownerName }) => ownerName ?? []))];
}
