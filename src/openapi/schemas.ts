/** The schemas of the document: the JSON of an order and of an error. */
import { MIN_QUANTITY } from "../worker/db/values.ts";
import { PUBLIC_CODES } from "./error-catalogue.ts";
import type { JsonObject } from "./json.ts";

/** The examples are orders 1 and 2 of the demo data. */
export const ORDER_EXAMPLES = [
  { id: 1, petId: 10, quantity: 6, shipDate: "2026-12-04T09:00:00.000Z", complete: false },
  { id: 2, petId: 36, quantity: 6, shipDate: "2026-11-24T09:00:00.000Z", complete: false },
] as const satisfies readonly JsonObject[];

export const SCHEMAS = {
  Order: {
    description: "An order. An unknown value is an absent member, never null.",
    type: "object",
    properties: {
      id: {
        description: "Unique order identifier. Every order has an id.",
        type: "integer",
        format: "int64",
      },
      petId: { description: "Identifier of the animal in this order.", type: "integer", format: "int64" },
      quantity: { description: "Number of units ordered.", type: "integer", minimum: MIN_QUANTITY },
      shipDate: {
        description: "Expected or actual ship date, in UTC.",
        type: "string",
        format: "date-time",
      },
      complete: { description: "Whether the order has been fulfilled.", type: "boolean" },
    },
    examples: ORDER_EXAMPLES,
  },
  Error: {
    description: "The body of every error. Programs use `code`; `message` is for people and may change.",
    type: "object",
    required: ["code", "message", "status"],
    properties: {
      // There is no enum, because a validator would refuse a code that is added later.
      code: {
        description: "Machine-readable error code. New codes can be added.",
        type: "string",
        "x-extensible-enum": PUBLIC_CODES,
      },
      message: { description: "Human-readable description of the error.", type: "string" },
      status: { description: "The HTTP status code.", type: "integer", format: "int32" },
    },
  },
} as const satisfies Record<string, JsonObject>;
