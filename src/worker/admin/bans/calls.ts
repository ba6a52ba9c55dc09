/** The calls about bans: live and past ones, banning a key and lifting its bans. */
import type * as v from "valibot";
import { openDatabase } from "../../db/database.ts";
import { nowSeconds } from "../../text/time.ts";
import { call } from "../call.ts";
import { columnsOf } from "../http/csv.ts";
import { banKey, liftBan, previewBan } from "./change.ts";
import { listBans } from "./list-sql.ts";
import { banLifted, banPage, banQuery, banRequest, banSet, type banView, listedBan } from "./schema.ts";

export const BAN: v.InferInput<typeof banView> = {
  id: "ban_0b7c2f3e-6a55-4a4e-9d0c-2f4f1f1f9a10",
  keyId: "key_0C8yRw3mQz1T",
  keyName: "Backend of Pet Shop",
  cause: "operator",
  reason: "Sends each order twice.",
  strikes: 0,
  startedAt: "2026-11-21T10:00:00Z",
  endsAt: "2026-11-21T11:00:00Z",
  liftedAt: null,
  liftedBy: null,
  live: true,
};

export const banCalls = {
  list: call({
    id: "bans.list",
    route: "GET /bans",
    summary: "List bans",
    description:
      "The ban that began last comes first. With `state=live` the ban that ends last comes first, with `state=past` the ban that ended last.",
    query: banQuery,
    answer: banPage,
    example: { answer: { bans: [{ ...BAN, owner: "Pet Shop", keyVersion: 4 }], next: null } },

    // A limiter reports a ban for strikes at once. D1 lacks a ban only if its report failed a moment ago.
    run: ({ env, query }) => listBans(openDatabase(env.DB), query, nowSeconds()),
    table: ({ bans, next }) => ({ file: "bans", columns: columnsOf(listedBan), rows: bans, next }),
  }),

  set: call({
    id: "bans.set",
    route: "PUT /keys/:id/ban",
    summary: "Ban a key",
    description: "Replaces the bans of the key that are live.",
    body: banRequest,
    answer: banSet,
    example: {
      body: { seconds: 3600, reason: "Sends each order twice." },
      answer: { version: 4, ban: BAN, replaced: [], effective: "immediately" },
    },

    preview: previewBan,
    run: banKey,
  }),

  lift: call({
    id: "bans.lift",
    route: "DELETE /keys/:id/ban",
    summary: "Lift the bans of a key",
    description: "The next ban for seconds over the limit is not doubled because of a ban that was lifted.",
    answer: banLifted,
    example: {
      answer: {
        version: 5,
        lifted: { ...BAN, liftedAt: "2026-11-21T10:20:00Z", liftedBy: "mo", live: false },
        effective: "immediately",
      },
    },

    run: liftBan,
  }),
};
