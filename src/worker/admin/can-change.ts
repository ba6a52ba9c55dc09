/** Which requests of the admin API can change something. Of those, a failure whose outcome is unknown says so. Pure. */

export const LOOK_FIRST = "A change may have been made: look before you repeat it.";

/** Not a read, a search for a secret, or a dry run. `dryRun` is the first value of the query's member, as the routes read it. */
export function canChange(method: string, path: string, dryRun: string | undefined): boolean {
  if (method === "GET" || method === "HEAD" || !path.startsWith("/admin/")) return false;
  return path !== "/admin/keys/find" && dryRun !== "" && dryRun !== "true";
}
