/** The calls about the links of owners' pages. */
import { namedCustomer } from "../../db/customers-sql.ts";
import { openDatabase } from "../../db/database.ts";
import { nowSeconds } from "../../text/time.ts";
import { call } from "../call.ts";
import { remove } from "../change.ts";
import { createLink } from "./change.ts";
import { issuedLink, linkList, linkQuery, newLink, revokedLink } from "./schema.ts";
import { linkTarget, listLinks } from "./sql.ts";

export const linkCalls = {
  list: call({
    id: "links.list",
    route: "GET /links",
    summary: "List the links of owners",
    description:
      "Links that have not ended, newest first, at most 500. A link ends when it is revoked, and with the last key of its customer.",
    query: linkQuery,
    answer: linkList,

    run: async ({ env, query: { customer } }) => {
      const db = openDatabase(env.DB);
      const id = customer === undefined ? undefined : await namedCustomer(db, customer);
      return { links: await listLinks(db, id, nowSeconds()) };
    },
  }),

  create: call({
    id: "links.create",
    route: "POST /links",
    summary: "Make a link for a customer",
    description:
      "Whoever has the link sees the customer's keys, their use and bans, and can rotate their secrets with a grace. The answer is the only one that has the link.",
    body: newLink,
    answer: issuedLink,
    example: { customer: "Pet Shop", days: 7 },

    conflict: "The customer has no key that is not revoked.",

    run: createLink,
  }),

  revoke: call({
    id: "links.revoke",
    route: "DELETE /links/:linkId",
    summary: "Revoke a link",
    description: "The link stops working at once.",
    answer: revokedLink,

    run: (input) => remove(input, linkTarget(input.id), "links.revoke"),
  }),
};
