/** Whom a file belongs to: another user may have created it in a shared folder, such as /tmp, before `npm start`. */
import { lstatSync, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Throws if the file, or a link in its place, belongs to another user. The owner of its folder may have files there, as in a
 * container that runs as root, but no links, whose target would be changed. Where an own link leads is the user's choice.
 */
export function requireOwn(path: string): void {
  const own = process.getuid?.();
  if (own === undefined) return;
  const found = lstatSync(path);
  if (found.uid === own) return;
  if (found.isSymbolicLink() || found.uid !== statSync(dirname(path)).uid)
    throw new Error(`${path} belongs to another user`);
}
