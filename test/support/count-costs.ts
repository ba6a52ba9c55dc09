/** D1 whose statements and rows read are counted, for what a list of orders costs. */
import { env } from "cloudflare:workers";
import { wrapStatement } from "./wrap-statement.ts";

type Costs = { DB: D1Database; statements: () => number; rowsRead: () => number };

/** D1 with the statements and the rows that they read counted. */
export function countCosts(): Costs {
  let statements = 0;
  let rowsRead = 0;
  const count = async (run: () => Promise<unknown>) => {
    statements++;
    // Of `raw` and `first`, the result has no such member.
    const result = (await run()) as Partial<D1Result> | null;
    rowsRead += result?.meta?.rows_read ?? 0;
    return result;
  };
  const prepare = (sql: string) => wrapStatement(env.DB.prepare(sql), count);
  return {
    // The list of orders uses this member only.
    DB: { prepare } as unknown as D1Database,
    statements: () => statements,
    rowsRead: () => rowsRead,
  };
}
