/** D1 whose statements and rows read are counted, for what a list of orders costs. */
import { env } from "cloudflare:workers";

type Costs = { DB: D1Database; statements: () => number; rowsRead: () => number };

/** D1 with the statements and the rows that they read counted. */
export function countCosts(): Costs {
  let statements = 0;
  let rowsRead = 0;
  const counting = (statement: D1PreparedStatement): D1PreparedStatement =>
    new Proxy(statement, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== "function") return member;
        if (name === "bind") return (...values: unknown[]) => counting(member.apply(target, values));
        return async (...args: unknown[]) => {
          statements++;
          const result = await member.apply(target, args);
          rowsRead += result?.meta?.rows_read ?? 0;
          return result;
        };
      },
    });
  const prepare = (sql: string) => counting(env.DB.prepare(sql));
  return {
    // The list of orders uses this member only.
    DB: { prepare } as unknown as D1Database,
    statements: () => statements,
    rowsRead: () => rowsRead,
  };
}
