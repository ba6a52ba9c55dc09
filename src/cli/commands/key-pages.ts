/** Lists keys over several pages: with a status or a name, a page of the service can be short although more keys follow. */
import type { KeyPage } from "../../worker/db/key-repository.ts";
import { KEY_STATUSES, type PLAN_IDS } from "../../worker/db/values.ts";
import { answerOf, type Session } from "./session.ts";

export const STATUSES = [...KEY_STATUSES, "expired"] as const;

export type Plan = (typeof PLAN_IDS)[number];

export type KeyQuery = {
  plan?: Plan;
  status?: (typeof STATUSES)[number];
  name?: string;
  limit: string;
  after?: string;
};

/** The largest page that the service has. */
const MAX_PAGE_KEYS = "500";

/** The first `query.limit` keys that match, as one page. */
export async function fetchKeys(session: Session, query: KeyQuery): Promise<KeyPage> {
  const limit = Number(query.limit);
  const first = await fetchPage(session, query);
  const keys = [...first.keys];
  let next = first.next;
  while (next !== null && keys.length < limit) {
    const page = await fetchPage(session, { ...query, after: next, limit: MAX_PAGE_KEYS });
    keys.push(...page.keys);
    next = page.next;
  }
  if (keys.length <= limit) return { keys, next };
  const shown = keys.slice(0, limit);
  return { keys: shown, next: shown.at(-1)?.id ?? null };
}

async function fetchPage({ client, access }: Session, query: KeyQuery): Promise<KeyPage> {
  const text = await answerOf(access, client.keys.$get({ query }));
  return JSON.parse(text) as KeyPage; // `answerOf` throws unless the service answered with a page
}
