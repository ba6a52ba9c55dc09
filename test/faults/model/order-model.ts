/** The orders as the requests so far leave them: what a list shows, and what was cancelled. */
import { Mismatch } from "./limiter-model.ts";

/** The ids that steps choose from. Some are beyond what a JavaScript number holds. */
export const ORDER_IDS = [
  "1",
  "2",
  "3",
  "4",
  "5",
  "6",
  "9007199254740993",
  "9007199254740995",
  "-7",
  "9223372036854775807",
];

export type OrderStatus = "pending" | "processing" | "shipped" | "delivered";
export type Order = {
  readonly petId: number | null;
  readonly quantity: number | null;
  readonly shipDate: string | null;
  readonly complete: boolean | null;
  readonly status: OrderStatus;
};

/** From the first to the last. */
export const STATUSES: readonly OrderStatus[] = ["pending", "processing", "shipped", "delivered"];

/** An order of a load. Without a status the stored one stays. */
export type OrderLine = { readonly id: string } & Omit<Order, "status"> & {
    readonly status: OrderStatus | null;
  };

export type Counts = {
  inserted: number;
  updated: number;
  unchanged: number;
  cancelled: number;
  kept: number;
};

export class OrderModel {
  readonly orders = new Map<string, Order>();
  readonly cancelled: { readonly orderId: string; readonly keyId: string }[] = [];
  /** Raised by each change that a client can see. */
  #revision = 0;
  readonly #etags = new Map<string, number>();

  set(id: string, order: Order): void {
    const before = this.orders.get(id);
    if (toJson(id, before) !== toJson(id, order)) this.#revision++;
    this.orders.set(id, order);
  }

  delete(id: string): void {
    if (this.orders.delete(id)) this.#revision++;
  }

  json(): string {
    const ids = [...this.orders.keys()].sort((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1));
    return `[${ids.map((id) => toJson(id, this.orders.get(id))).join(",")}]`;
  }

  /** Every list is the current one. One revision has one ETag, and one ETag has one revision. */
  checkList(etag: string, json: string): void {
    const known = this.#etags.get(etag);
    const isNew = known === undefined && this.etag() === undefined;
    if (json !== this.json() || !(isNew || known === this.#revision))
      throw new Mismatch(`the list ${etag} is ${json.slice(0, 300)}, not ${this.json().slice(0, 300)}`);
    this.#etags.set(etag, this.#revision);
  }

  /** The ETag of the current list, if a client has seen it. */
  etag(): string | undefined {
    return [...this.#etags].find(([, revision]) => revision === this.#revision)?.[0];
  }

  /**
   * Stores the orders, no id twice, and says what it counts. A cancelled order is inserted again only if
   * `restoresCancelled`. A status goes back only if `allowsBackwards`.
   */
  load(lines: readonly OrderLine[], restoresCancelled: boolean, allowsBackwards: boolean): Counts {
    const counts = { inserted: 0, updated: 0, unchanged: 0, cancelled: 0, kept: 0 };
    for (const { id, ...line } of lines) {
      const before = this.orders.get(id);
      if (!before && !restoresCancelled && this.cancelled.some(({ orderId }) => orderId === id)) {
        counts.cancelled++;
        continue;
      }
      const wanted = line.status ?? before?.status ?? "pending";
      const goesBack = before !== undefined && STATUSES.indexOf(wanted) < STATUSES.indexOf(before.status);
      const isKept = goesBack && !allowsBackwards;
      if (isKept) counts.kept++;
      const after = { ...line, status: isKept ? before.status : wanted };
      if (!before) counts.inserted++;
      else if (same(before, after)) counts.unchanged++;
      else counts.updated++;
      this.set(id, after);
    }
    return counts;
  }
}

const MEMBERS = ["petId", "quantity", "shipDate", "complete", "status"] as const;

export function same(a: Order, b: Order): boolean {
  return MEMBERS.every((name) => a[name] === b[name]);
}

function toJson(id: string, order: Order | undefined): string {
  if (!order) return "";
  const members = [
    `"id":${id}`,
    ...(order.petId === null ? [] : [`"petId":${order.petId}`]),
    ...(order.quantity === null ? [] : [`"quantity":${order.quantity}`]),
    ...(order.shipDate === null ? [] : [`"shipDate":"${order.shipDate}"`]),
    ...(order.complete === null ? [] : [`"complete":${order.complete}`]),
  ];
  return `{${members.join(",")}}`;
}
