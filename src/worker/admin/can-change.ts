/** Which requests of the admin API can change something. Of those, a failure whose outcome is unknown says so. Pure. */

export const LOOK_FIRST = "A change may have been made: look before you repeat it.";

/** Not a read, a search for a secret, or a dry run. */
export function canChange(method: string, url: string): boolean {
  const { pathname, searchParams } = new URL(url);
  if (method === "GET" || method === "HEAD" || !pathname.startsWith("/admin/")) return false;
  return pathname !== "/admin/keys/find" && !searchParams.has("dry-run");
}
