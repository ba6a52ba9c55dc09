/** The address of the audit page as a query of the admin API. */

import { AUDIT_CALLS } from "../../../worker/db/values.ts";
import { type AdminClient, jsonOf } from "../admin-client.ts";
import type { AuditEntry } from "../api-types.ts";
import { isSecret } from "../keys/search-text.ts";
import { rfc3339OfLocal } from "../local-time.ts";

type AuditQuery = Parameters<AdminClient["audit"]["$get"]>[0]["query"];

/** What the admin API does not know is left out: someone may have changed the address. */
export function auditQueryOf(query: Readonly<Record<string, string>>): AuditQuery {
  const { actor, object, before } = query;
  const call = AUDIT_CALLS.find((each) => each === query.call);
  const [from, to] = [query.from, query.to].map((local) => rfc3339OfLocal(local));
  return {
    ...(actor && !isSecret(actor) ? { actor } : {}),
    ...(call ? { call } : {}),
    ...(object && !isSecret(object) ? { object } : {}),
    ...(from ? { from } : {}),
    ...(to ? { to } : {}),
    ...(before && /^[1-9]\d{0,14}$/.test(before) ? { before } : {}),
  };
}

type AuditPage = { readonly audit: readonly AuditEntry[]; readonly next: number | null };

/** A page with a filter can have fewer entries than its limit, or none, although more follow. */
const MAX_PAGES = 5;

/** At least `count` entries, if so many follow soon, and where to go on. */
export async function listAudit(client: AdminClient, query: AuditQuery, count: number): Promise<AuditPage> {
  const audit: AuditEntry[] = [];
  let next: number | null = null;
  for (let pages = 0; pages < MAX_PAGES && audit.length < count; pages++) {
    const before = next === null ? {} : { before: String(next) };
    const limit = String(count - audit.length);
    const page: AuditPage = await jsonOf(client.audit.$get({ query: { ...query, ...before, limit } }));
    audit.push(...page.audit);
    next = page.next;
    if (next === null) break;
  }
  return { audit, next };
}
