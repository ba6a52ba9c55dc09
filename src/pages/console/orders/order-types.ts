/** Orders as the admin API returns them. Pure. */
import { ORDER_STATUSES } from "../../../worker/db/values.ts";
import { parseNumbersAsText } from "../../shared/exact-json.ts";

export type OrderStatus = (typeof ORDER_STATUSES)[number];

/** Integers are text, since they have up to 19 digits. */
export type Order = {
  readonly id: string;
  readonly petId: string | null;
  readonly quantity: string | null;
  readonly shipDate: string | null;
  readonly complete: boolean | null;
  readonly status: OrderStatus;
};

export type CancelledOrder = Omit<Order, "status"> & {
  readonly number: string;
  readonly cancelledAt: string;
  readonly cancelledBy: string;
};

export function parseOrder(text: string): Order {
  // The admin API's own answer; its tests check this shape.
  return parseNumbersAsText(text) as Order;
}

export function parseOrders(text: string): { orders: Order[]; next: string | null } {
  // As above.
  return parseNumbersAsText(text) as { orders: Order[]; next: string | null };
}

export function parseCancelled(text: string): {
  cancelled: CancelledOrder[];
  next: string | null;
} {
  // As above.
  return parseNumbersAsText(text) as { cancelled: CancelledOrder[]; next: string | null };
}

export function isOrderStatus(text: string): text is OrderStatus {
  return ORDER_STATUSES.some((status) => status === text);
}

export function isInteger(text: string): boolean {
  return /^-?\d{1,19}$/.test(text);
}

/** Whether a change of status undoes a step that was already made. */
export function isBackwards(from: OrderStatus, to: OrderStatus): boolean {
  return ORDER_STATUSES.indexOf(to) < ORDER_STATUSES.indexOf(from);
}
