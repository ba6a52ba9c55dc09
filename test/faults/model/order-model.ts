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

/** A line of an import. Without a status the stored one stays. */
export type ImportLine = { readonly id: string } & Omit<Order, "status"> & {
    readonly status: OrderStatus | null;
  };

type Counts = { inserted: number; updated: number; unchanged: number; cancelled: number };

export class OrderModel {
  readonly orders = new Map<string, Order>();
  readonly cancelled: { readonly orderId: string; readonly keyId: string }[] = [];
  imports = 0;
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

  /**
   * Stores a chunk, and says what it counts. Of two lines with one id the later one is stored, and both count. A cancelled order
   * is inserted again only if `restoresCancelled`.
   */
  storeChunk(lines: readonly ImportLine[], restoresCancelled: boolean): Counts {
    const counts = { inserted: 0, updated: 0, unchanged: 0, cancelled: 0 };
    const merged = new Map<string, { line: ImportLine; lines: number }>();
    for (const line of lines) {
      const earlier = merged.get(line.id);
      const status = line.status ?? earlier?.line.status ?? null;
      merged.set(line.id, { line: { ...line, status }, lines: (earlier?.lines ?? 0) + 1 });
    }
    for (const [id, { line, lines }] of merged) {
      const before = this.orders.get(id);
      if (!before && !restoresCancelled && this.cancelled.some(({ orderId }) => orderId === id)) {
        counts.cancelled += lines;
        continue;
      }
      const { petId, quantity, shipDate, complete } = line;
      const status = line.status ?? before?.status ?? "pending";
      const after = { petId, quantity, shipDate, complete, status };
      if (before && same(before, after)) {
        counts.unchanged += lines;
        continue;
      }
      counts.inserted += before ? 0 : 1;
      counts.updated += before ? lines : lines - 1;
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
