/** A Durable Object that stores each count. Its output gate holds the answer until the row is written. */
import { DurableObject } from "cloudflare:workers";
import { currentMinute, limitedApp } from "./app.ts";

export class Limiter extends DurableObject {
  constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
    super(ctx, env);
    ctx.storage.sql.exec(
      "create table if not exists counter (id integer primary key, minute integer, requests integer)",
    );
  }

  count(minute: number): number {
    const upsert = `insert into counter (id, minute, requests) values (1, ?1, 1)
      on conflict (id) do update set requests = iif(minute = ?1, requests + 1, 1), minute = ?1
      returning requests`;
    return this.ctx.storage.sql.exec<{ requests: number }>(upsert, minute).one().requests;
  }
}

export default limitedApp<Limiter>((limit) => async (c, next) => {
  const count = await c.env.LIMITER.getByName(c.var.key).count(currentMinute());
  return count > limit ? c.json({ error: "rate limit exceeded" }, 429) : await next();
});
