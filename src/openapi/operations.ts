/** The public operations. */

import { ORDER_EXAMPLES } from "./component-schemas.ts";
import type { PublicCode } from "./error-catalogue.ts";
import type { JsonObject } from "./json.ts";
import type { Lifecycle, OperationId } from "./lifecycle.ts";
import { responsesOf, type Success } from "./responses.ts";

type Operation = {
  readonly path: string;
  readonly method: "get" | "delete";
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly JsonObject[];
  readonly successes: readonly Success[];
  /** In addition to `COMMON_CODES`. */
  readonly codes: readonly PublicCode[];
};

const COMMON_CODES: readonly PublicCode[] = [
  "unauthorized",
  "https_required",
  "method_not_allowed",
  "uri_too_long",
  "rate_limit_exceeded",
  "key_banned",
  "internal_error",
  "service_unavailable",
];

/** Some 40 ETags. The Worker ignores a longer header. */
export const MAX_IF_NONE_MATCH_CHARS = 1_000;

const OPERATIONS: Readonly<Record<OperationId, Operation>> = {
  listOrders: {
    path: "/store/orders",
    method: "get",
    tag: "Orders",
    summary: "List all orders",
    description:
      "All orders placed in the store, sorted by id, in one response. Filtering and paging are not supported; both are planned for v2. Keep the `ETag` and send it back in `If-None-Match`: while the list has not changed, the answer is 304 without a body, but with `X-RateLimit-Degraded` always the whole list. Such a request counts against the limit too.",
    parameters: [
      {
        name: "If-None-Match",
        in: "header",
        description: "The `ETag` of the list that you have.",
        required: false,
        schema: { type: "string", maxLength: MAX_IF_NONE_MATCH_CHARS, pattern: "^[ -~]*$" },
        example: '"251-8d2f0b1c9e7a6543"',
      },
    ],
    successes: [
      {
        status: 200,
        description: "All orders.",
        content: {
          "application/json": {
            schema: { type: "array", items: { $ref: "#/components/schemas/Order" } },
            examples: {
              orders: { summary: "Two orders, the second without a ship date", value: ORDER_EXAMPLES },
              none: { summary: "No orders", value: [] },
            },
          },
        },
      },
      { status: 304, description: "The list has not changed since the `ETag` in `If-None-Match`." },
    ],
    codes: [],
  },
  cancelOrder: {
    path: "/store/orders/{orderId}",
    method: "delete",
    tag: "Orders",
    summary: "Cancel an order",
    description:
      "Cancels a pending order and removes it from the list. Shipped orders cannot be reversed. If several requests cancel the same order, exactly one of them is answered with 204. After a 503, or without an answer, the order may be cancelled or not: send the request again. A 204 or 404 then says that the list does not have it any more. A browser sends a request again by itself if its connection ends before the answer, so that a 404 can follow the cancel of the same call there.",
    parameters: [
      pathId(
        "orderId",
        "Identifier of the order to cancel. If the value is not an int64, the answer is 404.",
      ),
    ],
    successes: [{ status: 204, description: "The order was pending and is cancelled." }],
    codes: ["not_found", "order_already_shipped", "order_not_cancellable"],
  },
  getPet: {
    path: "/pets/{petId}",
    method: "get",
    tag: "Pets",
    summary: "Look up a pet",
    description:
      "Deprecated: do not use it. The service stores no pets, so the answer is 404 until the sunset date and 410 from then on. Every response has the headers `Deprecation` and `Sunset`.",
    parameters: [pathId("petId", "Identifier of the pet.")],
    successes: [],
    codes: ["not_found", "gone"],
  },
};

export function pathsOf(lifecycles: Readonly<Record<OperationId, Lifecycle>>): JsonObject {
  const paths: Record<string, JsonObject> = {};
  for (const [id, operation] of Object.entries(OPERATIONS)) {
    // Object.entries returns strings as keys; the type of the table says which keys it has.
    const lifecycle = lifecycles[id as OperationId];
    paths[operation.path] = { [operation.method]: describeOperation(id, operation, lifecycle) };
  }
  return paths;
}

function describeOperation(id: string, operation: Operation, lifecycle: Lifecycle): JsonObject {
  return {
    operationId: id,
    tags: [operation.tag],
    summary: operation.summary,
    description: operation.description,
    deprecated: lifecycle.deprecation ? true : undefined,
    "x-deprecated-sunset": lifecycle.deprecation?.sunsetDate,
    "x-stability": lifecycle.stability,
    parameters: operation.parameters,
    responses: responsesOf(operation.successes, [...COMMON_CODES, ...operation.codes], lifecycle),
  };
}

function pathId(name: string, description: string): JsonObject {
  return {
    name,
    in: "path",
    required: true,
    description,
    schema: { type: "integer", format: "int64" },
    example: 10,
  };
}
