/** The address of the audit page as a query of the admin API. */
import { AUDIT_CALLS } from "../../../worker/db/values.ts";
import { parseLargeIntegersAsText } from "../../shared/exact-json.ts";
import { type AdminClient, textOf } from "../admin-client.ts";
import type { AuditEntry } from "../api-types.ts";
import { collectPages } from "../collect-pages.ts";
import { utcOf } from "../local-time.ts";

type AuditQuery = Parameters<AdminClient["audit"]["$get"]>[0]["query"];

/** What the admin API does not know is left out: someone may have changed the address. */
export function auditQueryOf(query: Readonly<Record<string, string>>): AuditQuery {
  const { actor, object, before } = query;
  const call = AUDIT_CALLS.find((each) => each === query.call);
  const [from, to] = [utcOf(query.from), utcOf(query.to)];
  return {
    ...(actor ? { actor } : {}),
    ...(call ? { call } : {}),
    ...(object ? { object } : {}),
    ...(from ? { from } : {}),
    ...(to ? { to } : {}),
    ...(before && /^[1-9]\d{0,14}$/.test(before) ? { before } : {}),
  };
}

type AuditPage = { readonly audit: readonly AuditEntry[]; readonly next: number | null };

/** At least `count` entries, if so many follow soon, and where to go on. */
export async function listAudit(client: AdminClient, query: AuditQuery, count: number): Promise<AuditPage> {
  const { items, next } = await collectPages<AuditEntry, number>(count, async (limit, cursor) => {
    const before = cursor === null ? {} : { before: String(cursor) };
    const text = await textOf(client.audit.$get({ query: { ...query, ...before, limit } }));
    // The type of the answers of this route. The members of a deleted order have up to 19 digits.
    const page = parseLargeIntegersAsText(text) as AuditPage;
    return { items: page.audit, next: page.next };
  });
  return { audit: items, next };
}
