/** What the reference says of every route of the admin API, by method and path. A test compares its routes with those of the app. */
import * as v from "valibot";
import { alertReference } from "./alerts/reference.ts";
import { auditReference } from "./audit/reference.ts";
import { auditView } from "./audit/schema.ts";
import { banReference } from "./bans/reference.ts";
import { banView } from "./bans/schema.ts";
import { customerReference } from "./customers/reference.ts";
import type { Reference } from "./http/describe.ts";
import { keyReference } from "./keys/reference.ts";
import { keyView, secretView } from "./keys/schema.ts";
import { orderReference } from "./orders/reference.ts";
import { cancelledOrder, orderView } from "./orders/schema.ts";
import { planReference } from "./plans/reference.ts";
import { planView } from "./plans/schema.ts";
import { usageReference } from "./usage/reference.ts";

export const REFERENCE: Reference = {
  ...keyReference,
  ...banReference,
  ...usageReference,
  ...customerReference,
  ...planReference,
  ...orderReference,
  ...auditReference,
  ...alertReference,
  "GET /openapi.json": {
    id: "reference.show",
    summary: "Get this document",
    answer: v.looseObject({ openapi: v.string() }),
    example: { openapi: "3.1.0" },
  },
};

/** The groups of the reference: the first parts of the ids. */
export const TAGS = {
  keys: "API keys, their secrets and limits.",
  bans: "Bans of keys, which operators set and strikes cause.",
  usage: "Requests that were admitted and refused.",
  customers: "The owners of keys, by how close they come to their limits.",
  plans: "The limits that keys share.",
  orders: "The orders of the store, and those that clients cancelled.",
  audit: "Every change by an operator.",
  alerts: "What the webhook is told: bans, used-up days, expiries.",
  reference: "This document.",
};

const error = v.object({
  code: v.string(),
  message: v.pipe(v.string(), v.description("For people. The text may change.")),
  status: v.pipe(v.number(), v.integer()),
  current: v.pipe(v.optional(v.unknown()), v.description("Of a 412: the object as it is now.")),
  refused: v.pipe(
    v.optional(v.array(v.object({ index: v.number(), member: v.nullable(v.string()), reason: v.string() }))),
    v.description("Of a load: elements that are not valid."),
  ),
});

/** Schemas that stand once in the document, by name. */
export const NAMED_SCHEMAS = {
  Key: keyView,
  Secret: secretView,
  Ban: banView,
  Plan: planView,
  Order: orderView,
  CancelledOrder: cancelledOrder,
  AuditEntry: auditView,
  Error: error,
};
