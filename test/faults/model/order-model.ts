/** The orders as the requests so far leave them: what a list shows, and what was cancelled. */
import { Mismatch } from "./limiter-model.ts";

/** Of the orders that steps choose from. Some are beyond what a JavaScript number holds. */
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

/** An order of a load. Without a status the stored one stays. */
export type OrderLine = { readonly id: string } & Omit<Order, "status"> & {
    readonly status: OrderStatus | null;
  };

export type Counts = { inserted: number; updated: number; unchanged: number; cancelled: number };

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

  /** One revision has one ETag, and one ETag has one revision. */
  checkEtag(etag: string): void {
    const known = this.#etags.get(etag);
    const current = [...this.#etags].find(([, revision]) => revision === this.#revision);
    if (known !== undefined && known !== this.#revision)
      throw new Mismatch(`ETag ${etag} came back after the list changed`);
    if (current && current[0] !== etag)
      throw new Mismatch(`the ETag changed from ${current[0]} to ${etag}, and the list did not`);
    this.#etags.set(etag, this.#revision);
  }

  /** The ETag of the current list, if a client has seen it. */
  etag(): string | undefined {
    return [...this.#etags].find(([, revision]) => revision === this.#revision)?.[0];
  }

  /** Stores the orders, no id twice, and says what it counts. A cancelled order is inserted again only if `restoresCancelled`. */
  load(lines: readonly OrderLine[], restoresCancelled: boolean): Counts {
    const counts = { inserted: 0, updated: 0, unchanged: 0, cancelled: 0 };
    for (const { id, ...line } of lines) {
      const before = this.orders.get(id);
      if (!before && !restoresCancelled && this.cancelled.some(({ orderId }) => orderId === id)) {
        counts.cancelled++;
        continue;
      }
      const after = { ...line, status: line.status ?? before?.status ?? "pending" };
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
