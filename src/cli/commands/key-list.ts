/** `keys list`, over several pages: with a filter, a page of the service can be short although more keys follow. */
import { type Command, Option } from "commander";
import * as v from "valibot";
import { KEY_SORTS, KEY_STATUSES, PLAN_IDS } from "../../worker/db/values.ts";
import { exactNumber } from "../../worker/exact-json.ts";
import { arrayOf, pageOf, pagesOf } from "./answers.ts";
import { digits, textInAddress } from "./arguments.ts";
import { keyPageShape, listOfKeys } from "./key-text.ts";
import { bodyOf, printList, type Session } from "./session.ts";

const STATUSES = [...KEY_STATUSES, "expired"] as const;

export type Plan = (typeof PLAN_IDS)[number];

type KeyQuery = {
  plan?: Plan;
  status?: (typeof STATUSES)[number];
  search?: string;
  expiringBefore?: string;
  unusedSince?: string;
  sort?: (typeof KEY_SORTS)[number];
  direction?: "asc" | "desc";
  limit: string;
  after?: string;
};

export function addList(keys: Command, session: () => Session): void {
  keys
    .command("list")
    .description("all keys, without their secrets")
    .addOption(new Option("--plan <plan>").choices(PLAN_IDS))
    .addOption(new Option("--status <status>").choices(STATUSES))
    .option(
      "--search <part>",
      "only keys with this text in their name, owner or e-mail address",
      textInAddress,
    )
    .option(
      "--expiring-before <date>",
      "only keys that expire before this date or RFC 3339 date-time",
      textInAddress,
    )
    .option("--unused-since <day>", "only keys last used before this UTC day, or never", textInAddress)
    .addOption(new Option("--sort <by>", "the order; by default created").choices(KEY_SORTS))
    .addOption(new Option("--direction <direction>", "by default asc").choices(["asc", "desc"]))
    .option("--limit <n>", "the maximum number of keys to show", digits, "100")
    .option("--after <next>", "go on after a list that ended with `More:`")
    .action(async (query: KeyQuery) => {
      await printList(session(), await fetchKeys(session(), query), keyPageShape, listOfKeys);
    });
}

const pageShape = v.object({ keys: arrayOf(v.unknown()), ...pageOf(v.string()) });

/** The first `query.limit` keys that match, as the JSON text of one page. */
async function fetchKeys({ client, access }: Session, query: KeyQuery): Promise<string> {
  const limit = Number(query.limit);
  const keys: unknown[] = [];
  let next: string | null = null;
  const pages = pagesOf((after: string | null) => {
    const from = after === null ? {} : { after };
    const page = { ...query, ...from, limit: String(limit - keys.length) };
    return bodyOf(access, client.keys.$get({ query: page }), pageShape, exactNumber);
  });
  for await (const page of pages) {
    keys.push(...page.keys);
    next = page.next;
    if (keys.length >= limit) break;
  }
  return JSON.stringify({ keys, next });
}
