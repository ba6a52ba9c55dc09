/** The schemas of the document: the JSON of an order and of an error. */
import { PUBLIC_CODES } from "./error-catalogue.ts";
import type { JsonObject } from "./json.ts";

export const ORDER_EXAMPLES = [
  { id: 10, petId: 4, quantity: 2, shipDate: "2026-11-24T09:00:00.000Z", complete: false },
  { id: 11, petId: 27, quantity: 1, complete: false },
] as const satisfies readonly JsonObject[];

export const SCHEMAS = {
  Order: {
    description: "An order. An unknown value is an absent member, never null.",
    type: "object",
    properties: {
      id: {
        description: "Unique order identifier.",
        type: "integer",
        format: "int64",
      },
      petId: {
        description: "Identifier of the animal in this order.",
        type: "integer",
        format: "int64",
      },
      quantity: { description: "Number of units ordered.", type: "integer" },
      shipDate: {
        description: "Expected or actual ship date, in UTC.",
        type: "string",
        format: "date-time",
        maxLength: 24,
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
      code: { description: "Machine-readable error code.", type: "string", enum: PUBLIC_CODES },
      message: {
        description: "Human-readable description of the error.",
        type: "string",
        minLength: 1,
        maxLength: 200,
        pattern: "^[ -~]+$",
      },
      status: {
        description: "The HTTP status code.",
        type: "integer",
        format: "int32",
        minimum: 400,
        maximum: 599,
      },
    },
  },
} as const satisfies Record<string, JsonObject>;
