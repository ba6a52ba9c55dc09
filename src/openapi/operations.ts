/** The public operations. */
import type { PublicCode } from "./error-catalogue.ts";
import { headersOfStatus } from "./headers.ts";
import type { JsonObject } from "./json.ts";
import { errorContent, errorResponses } from "./responses.ts";
import { ORDER_EXAMPLES } from "./schemas.ts";

/** Pages show this id in curl lines and send it. No order has it, because a cancel cannot be undone. */
const UNUSED_ID = Number.MAX_SAFE_INTEGER;

const listOrders = operation({
  operationId: "listOrders",
  tags: ["Orders"],
  summary: "List all orders",
  description:
    "Returns all orders placed in the store, sorted by id, in one response. Filtering and paging are not supported; both are planned for v2. A single order cannot be read: `GET /v1/store/orders/{orderId}` is answered with 405.\n\nKeep the `ETag` and send it back in `If-None-Match`: while the list has not changed, the answer is 304 without a body. Such a request counts against the limit too.",
  parameters: [
    {
      name: "If-None-Match",
      in: "header",
      description: "The `ETag` of the list that you have.",
      schema: { type: "string", maxLength: 1_000 },
    },
  ],
  successes: {
    200: {
      description: "All orders.",
      content: {
        "application/json": {
          schema: { type: "array", items: { $ref: "#/components/schemas/Order" } },
          example: ORDER_EXAMPLES,
        },
      },
    },
    304: { description: "The list has not changed since the `ETag` in `If-None-Match`." },
  },
  codes: [],
});

const cancelOrder = operation({
  operationId: "cancelOrder",
  tags: ["Orders"],
  summary: "Cancel an order",
  description:
    "Cancels a pending order and removes it from the list. This cannot be undone, and shipped orders cannot be reversed. If several requests cancel the same order, exactly one of them is answered with 204.\n\nAfter a 503, or without an answer, the order may be cancelled or not. Send the request again: a 204 or 404 then says that the order is not in the list any more. A browser sends a request again by itself if the connection ends before the answer, so a cancel that worked can be answered with 404 there.",
  parameters: [
    pathId("orderId", "Identifier of the order to cancel. If it is not an int64, the answer is 404."),
  ],
  successes: { 204: { description: "The order was pending and is cancelled." } },
  codes: ["order_not_found", "order_already_shipped", "order_not_cancellable", "precondition_failed"],
});

const getPet = operation({
  operationId: "getPet",
  tags: ["Pets"],
  summary: "Look up a pet",
  description:
    "Deprecated: do not use it. The service stores no pets, so the answer is 404 until the sunset date and 410 from then on. Every response has the headers `Deprecation` and `Sunset`.",
  deprecated: true,
  "x-stability": "experimental",
  parameters: [pathId("petId", "Identifier of the pet.")],
  successes: {
    default: {
      description: "Every answer of this operation is an error.",
      content: errorContent(["not_found"]),
    },
  },
  codes: ["not_found", "gone"],
});

export function pathsOf(petsSunsetDate: string): JsonObject {
  return {
    "/store/orders": { get: listOrders },
    "/store/orders/{orderId}": { delete: cancelOrder },
    "/pets/{petId}": { get: { ...getPet, "x-deprecated-sunset": petsSunsetDate } },
  };
}

type Operation = JsonObject & {
  readonly deprecated?: boolean;
  readonly successes: Readonly<Record<string, JsonObject>>;
  /** The codes beside the codes of every operation. */
  readonly codes: readonly PublicCode[];
};

function operation({ successes, codes, ...members }: Operation): JsonObject {
  const isDeprecated = members.deprecated === true;
  const described = Object.entries(successes).map(([status, response]) => [
    status,
    { ...response, headers: headersOfStatus(Number(status), isDeprecated) },
  ]);
  return {
    ...members,
    responses: { ...Object.fromEntries(described), ...errorResponses(codes, isDeprecated) },
  };
}

function pathId(name: string, description: string): JsonObject {
  const schema = { type: "integer", format: "int64" };
  return { name, in: "path", required: true, description, schema, example: UNUSED_ID };
}
