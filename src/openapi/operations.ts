/** The public operations, all of them. */

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
  /** Besides those that every operation has. */
  readonly codes: readonly PublicCode[];
};

const CODES_OF_ALL: readonly PublicCode[] = [
  "unauthorized",
  "method_not_allowed",
  "rate_limit_exceeded",
  "key_banned",
  "internal_error",
  "service_unavailable",
];

export const OPERATIONS: Readonly<Record<OperationId, Operation>> = {
  listOrders: {
    path: "/store/orders",
    method: "get",
    tag: "Orders",
    summary: "List all orders",
    description:
      "All orders placed in the store, by id, in one response: there is no filtering and no paging; both are planned for v2. Keep the `ETag` and send it back in `If-None-Match`: while nothing has changed, the answer is 304 without a body. It counts all the same.",
    parameters: [
      {
        name: "If-None-Match",
        in: "header",
        description: "The `ETag` of the list that you have.",
        required: false,
        schema: { type: "string", maxLength: 1_000, pattern: "^[ -~]*$" },
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
      { status: 304, description: "Nothing has changed since the list that `If-None-Match` names." },
    ],
    codes: [],
  },
  cancelOrder: {
    path: "/store/orders/{orderId}",
    method: "delete",
    tag: "Orders",
    summary: "Cancel an order",
    description:
      "Cancels a pending order: it leaves the list. Shipped orders cannot be reversed. Of several requests for one order exactly one is answered with 204.",
    parameters: [
      pathId(
        "orderId",
        "Identifier of the order to cancel. Anything but an int64 is an order that does not exist.",
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
      "Deprecated: do not build on it. No pets are kept here, so the answer is 404 until the sunset, and 410 from then on. The headers `Deprecation` and `Sunset` are on every answer.",
    parameters: [pathId("petId", "Identifier of the pet.")],
    successes: [],
    codes: ["not_found", "gone"],
  },
};

export function pathsOf(lifecycles: Readonly<Record<OperationId, Lifecycle>>): JsonObject {
  const paths: Record<string, JsonObject> = {};
  for (const [id, operation] of Object.entries(OPERATIONS)) {
    // Object.entries widens to string; the table's type says which keys it has.
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
    responses: responsesOf(operation.successes, [...CODES_OF_ALL, ...operation.codes], lifecycle),
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
