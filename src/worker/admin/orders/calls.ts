/** The calls about orders: lists, loads, shipments, and changes of one order. */
import { openDatabase } from "../../db/database.ts";
import { call } from "../call.ts";
import { remove, requireTarget } from "../change.ts";
import { tableOf } from "../http/csv.ts";
import { shipOrders, updateOrder } from "./change.ts";
import { loadOrders } from "./load.ts";
import * as schema from "./schema.ts";
import { listCancelled, listOrders, orderTarget } from "./sql.ts";

/** 5,000 orders take 1 MB, and two with white space. */
const MAX_LOAD_BYTES = 2 * 1024 * 1024;

export const orderCalls = {
  list: call({
    id: "orders.list",
    route: "GET /orders",
    summary: "List orders",
    description: "By id, with their status.",
    query: schema.orderQuery,
    answer: schema.orderPage,

    run: ({ env, query }) => listOrders(openDatabase(env.DB), query),
    table: tableOf("orders", schema.orderView),
  }),

  load: call({
    id: "orders.load",
    route: "PUT /orders",
    summary: "Load orders",
    description:
      "Stores all orders of the array, or none: a 400 lists in `refused` up to 100 elements that are not valid. In an order that exists, an absent member keeps its value, and null takes the value away. A status goes back only with `allow-backwards`. A new order without a status is pending. Sending the request again changes nothing more. With `dry-run` nothing is stored. `POST /audit/:id/undo` undoes the load.",
    query: schema.loadQuery,
    upload: { maxBytes: MAX_LOAD_BYTES, schema: schema.orderLoad },
    answer: schema.loadFigures,
    example: [{ id: 1, petId: 10, quantity: 6, shipDate: "2026-12-04T09:00:00Z", status: "pending" }],

    run: loadOrders,
  }),

  ship: call({
    id: "orders.ship",
    route: "POST /orders/ship",
    summary: "Ship orders",
    description:
      "Pending orders, and those that are processed, become shipped. The other orders stay as they are. The ids are text, which keeps all digits. Sending the request again changes nothing more.",
    body: schema.orderShipment,
    answer: schema.shipment,
    example: { ids: ["1", "2", "3"] },

    run: shipOrders,
  }),

  cancelled: call({
    id: "orders.cancelled",
    route: "GET /orders/cancelled",
    summary: "List cancelled orders",
    description: "The order that was cancelled last comes first.",
    query: schema.cancelledQuery,
    answer: schema.cancelledPage,

    run: ({ env, query }) => listCancelled(openDatabase(env.DB), query),
    table: tableOf("cancelled", schema.cancelledOrder, "cancelled-orders"),
  }),

  show: call({
    id: "orders.show",
    route: "GET /orders/:orderId",
    summary: "Show an order",
    description: "With its status, which clients do not see.",
    answer: schema.orderView,

    run: ({ env, id }) => requireTarget(openDatabase(env.DB), orderTarget(id)),
  }),

  update: call({
    id: "orders.update",
    route: "PATCH /orders/:orderId",
    summary: "Change an order",
    description: "Members that are absent stay as they are. Null removes a value.",
    body: schema.orderUpdate,
    answer: schema.changedOrder,
    example: { status: "shipped" },
    conflict: "The status would go backwards. `allowBackwards` allows it.",

    run: updateOrder,
  }),

  delete: call({
    id: "orders.delete",
    route: "DELETE /orders/:orderId",
    summary: "Delete an order",
    description: "Whatever its status. The answer is the order as it was.",
    asks: "The store loses the order. The audit log keeps it.",
    answer: schema.changedOrder,

    removes: true,
    run: (input) => remove(input, orderTarget(input.id), "orders.delete"),
  }),
};
