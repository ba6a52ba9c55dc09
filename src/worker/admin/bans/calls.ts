/** The call about bans, live and past ones. Banning a key is a change of the key. */
import { openDatabase } from "../../db/database.ts";
import { nowSeconds } from "../../text/time.ts";
import { call } from "../call.ts";
import { tableOf } from "../http/csv.ts";
import { banPage, banQuery, listedBan } from "./schema.ts";
import { listBans } from "./sql.ts";

export const banCalls = {
  list: call({
    id: "bans.list",
    route: "GET /bans",
    summary: "List bans",
    description:
      "The ban that began last comes first. With `state=live` the ban that ends last comes first, with `state=past` the ban that ended last.",
    query: banQuery,
    answer: banPage,

    // A limiter reports a ban for strikes at once. D1 lacks a ban only if its report failed a moment ago.
    run: ({ env, query }) => listBans(openDatabase(env.DB), query, nowSeconds()),
    table: tableOf("bans", listedBan),
  }),
};
