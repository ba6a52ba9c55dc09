/** Every call of the operator, in the order of the reference. */

import * as v from "valibot";
import { alertCalls } from "./alerts/calls.ts";
import { auditCalls } from "./audit/calls.ts";
import { auditView } from "./audit/schema.ts";
import { banCalls } from "./bans/calls.ts";
import { banView } from "./bans/schema.ts";
import { type Call, call, Rendered } from "./call.ts";
import { customerCalls } from "./customers/calls.ts";
import { customerView } from "./customers/schema.ts";
import { dayCalls } from "./days/calls.ts";
import { find } from "./find/calls.ts";
import { showHealth } from "./health/calls.ts";
import { described } from "./http/answer-schemas.ts";
import { keyBanCalls, keyCalls } from "./keys/calls.ts";
import { listedKey, secretView, updatedKey } from "./keys/schema.ts";
import { linkCalls } from "./links/calls.ts";
import { showMetrics } from "./metrics/calls.ts";
import { orderCalls } from "./orders/calls.ts";
import { cancelledOrder, orderView } from "./orders/schema.ts";
import { planCalls } from "./plans/calls.ts";
import { planView } from "./plans/schema.ts";
import { sessionCalls } from "./sessions/calls.ts";
import { undoCalls } from "./undo/calls.ts";
import { usageCalls } from "./usage/calls.ts";

/** The OpenAPI document of the admin API, which src/tools/admin-reference.ts makes in the build. */
export const showReference = call({
  id: "reference.show",
  route: "GET /openapi.json",
  summary: "Get this document",
  description: "The OpenAPI document of the admin API, for programs.",
  answer: v.looseObject({ openapi: v.string() }),
  // The first request for the document loads the text. Nothing parses it.
  run: async ({ origin }) => {
    const { default: text } = await import("../../../dist/admin-openapi.txt");
    return new Rendered(text.replaceAll("{{origin}}", origin));
  },
});

export const CALLS: readonly Call[] = [
  ...Object.values(keyCalls),
  ...Object.values(usageCalls),
  ...Object.values(banCalls),
  ...Object.values(keyBanCalls),
  ...Object.values(customerCalls),
  ...Object.values(dayCalls),
  ...Object.values(linkCalls),
  ...Object.values(planCalls),
  ...Object.values(orderCalls),
  ...Object.values(sessionCalls),
  ...Object.values(auditCalls),
  ...Object.values(undoCalls),
  ...Object.values(alertCalls),
  find,
  showHealth,
  showMetrics,
  showReference,
];
/** Describes the groups of the reference. The first part of a call's id is its group. */
export const TAGS = {
  keys: "API keys, their secrets and limits.",
  bans: "Bans of keys, which operators set and strikes cause.",
  usage: "Requests that were admitted and refused, and who comes close to a limit.",
  customers: "Who uses the keys: names, addresses, and the use of all keys together.",
  links: "Links with which owners see their keys, without an account.",
  plans: "The limits that keys share.",
  orders: "The orders of the store, and the orders that clients cancelled.",
  sessions: "Who is signed in to the console with a token.",
  audit: "Every change by an operator.",
  alerts: "What the webhook is told: bans, used-up days, expiries.",
  find: "Keys, customers and orders by one text.",
  health: "What is wrong with the service.",
  metrics: "Figures for Prometheus.",
  reference: "This document.",
};

const error = v.object({
  code: v.string(),
  message: described(v.string(), "For people. The text may change."),
  status: v.pipe(v.number(), v.integer()),
  problems: described(
    v.optional(v.array(v.object({ member: v.string(), reason: v.string() }))),
    "Of a 400: what is wrong with members of the body or the query.",
  ),
  current: described(v.optional(v.unknown()), "Of a 412: the object as it is now."),
  refused: described(
    v.optional(v.array(v.object({ index: v.number(), member: v.nullable(v.string()), reason: v.string() }))),
    "Of a load: elements that are not valid.",
  ),
});

/** The document has each of these schemas once, under its name. */
export const NAMED_SCHEMAS = {
  Key: listedKey,
  ChangedKey: updatedKey,
  Secret: secretView,
  Ban: banView,
  Customer: customerView,
  Plan: planView,
  Order: orderView,
  CancelledOrder: cancelledOrder,
  AuditEntry: auditView,
  Error: error,
};
