/** Whom a file belongs to: another user may have created it in a shared folder, such as /tmp, before `npm start`. */
import { lstatSync, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Throws if the file, or a link in its place, belongs to another user. The owner of its folder may have files there, as in a
 * container that runs as root, but no links, whose target would be changed.
 */
export function requireOwn(path: string): void {
  const own = process.getuid?.();
  if (own === undefined) return;
  const { uid: folderOwner } = statSync(dirname(path));
  const [found, target] = [lstatSync(path), statSync(path)];
  const isLinkOfOther = found.isSymbolicLink() && found.uid !== own;
  if (isLinkOfOther || (target.uid !== own && target.uid !== folderOwner))
    throw new Error(`${path} belongs to another user`);
}
