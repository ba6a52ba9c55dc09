/** Orders to list. */
import type { Database } from "../support/database.ts";

/** A statement of D1 may run for 30 s. */
const ORDERS_PER_STATEMENT = 50_000;

export async function insertOrders(db: Database, count: number): Promise<void> {
  for (let first = 1; first <= count; first += ORDERS_PER_STATEMENT) {
    const last = Math.min(first + ORDERS_PER_STATEMENT - 1, count);
    await db
      .prepare(
        `with recursive n (i) as (select ${first} union all select i + 1 from n where i < ${last})
         insert into orders (id, pet_id, quantity, ship_date, complete)
         select i, i % 5000, 1 + i % 9, '2026-01-01T00:00:00.000Z', i % 2 from n`,
      )
      .run();
  }
}
