/** A count in D1, which one statement raises and reads. */
import { currentMinute, limitedApp } from "./app.ts";

const TABLE = `create table if not exists counters (key text primary key, minute integer, requests integer) strict, without rowid`;

const COUNT = `insert into counters (key, minute, requests) values (?1, ?2, 1)
  on conflict (key) do update set requests = iif(minute = ?2, requests + 1, 1), minute = ?2
  returning requests`;

export default limitedApp((limit) => {
  let table: Promise<unknown> | undefined;
  return async (c, next) => {
    table ??= c.env.DB.prepare(TABLE).run();
    await table;
    const count = await c.env.DB.prepare(COUNT).bind(c.var.key, currentMinute()).first<number>("requests");
    return count === null || count > limit ? c.json({ error: "rate limit exceeded" }, 429) : await next();
  };
});
