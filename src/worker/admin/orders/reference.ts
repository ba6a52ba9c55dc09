/** What the reference says of `/admin/orders`. */
import type * as v from "valibot";
import { describe, type Reference } from "../http/describe.ts";
import { cancelledPage, loadFigures, orderLoad, orderPage, orderView } from "./schema.ts";

const MEMBERS = { petId: 10, quantity: 6, shipDate: "2026-12-04T09:00:00.000Z", complete: false };
const ORDER: v.InferInput<typeof orderView> = { id: 1, ...MEMBERS, status: "pending", version: 1 };

export const orderReference: Reference = {
  "GET /orders": describe({
    id: "orders.list",
    summary: "List orders",
    description: "By id, with their status.",
    answer: orderPage,
    example: { orders: [ORDER], next: null },
  }),
  "PUT /orders": describe({
    id: "orders.load",
    summary: "Load orders",
    description:
      "Stores all orders of the array, or none: a 400 lists in `refused` up to 100 elements that are not valid. An order that exists is replaced. Without `status` an order that exists keeps its status, and a new order is pending. Sending the request again changes nothing more. With `dry-run` nothing is stored.",
    body: { schema: orderLoad, example: [{ id: 1, ...MEMBERS, status: "pending" }] },
    answer: loadFigures,
    example: { inserted: 1, updated: 0, unchanged: 0, cancelled: 0 },
  }),
  "GET /orders/cancelled": describe({
    id: "orders.cancelled",
    summary: "List cancelled orders",
    description: "The order that was cancelled last comes first.",
    answer: cancelledPage,
    example: {
      cancelled: [
        {
          number: 7,
          id: 1,
          ...MEMBERS,
          cancelledAt: "2026-11-21T10:00:00Z",
          cancelledBy: "key_0C8yRw3mQz1T",
          requestId: "8fb8fa07-53c3-4d2f-a4a0-5a7a0e2a5d5b",
        },
      ],
      next: null,
    },
  }),
  "GET /orders/:orderId": describe({
    id: "orders.show",
    summary: "Show an order",
    answer: orderView,
    example: ORDER,
    etag: true,
  }),
  "PATCH /orders/:orderId": describe({
    id: "orders.update",
    summary: "Change an order",
    description: "Members that are absent stay as they are. Null removes a value.",
    body: { example: { status: "shipped" } },
    answer: orderView,
    example: { ...ORDER, status: "shipped", version: 2 },
    etag: true,
    conflict: "The status would go backwards. `allowBackwards` allows it.",
  }),
  "DELETE /orders/:orderId": describe({
    id: "orders.delete",
    summary: "Delete an order",
    description: "Whatever its status. The answer is the order as it was.",
    answer: orderView,
    example: ORDER,
  }),
};
