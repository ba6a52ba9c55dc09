/** SQL of an hour in the column `hours` of `usage`. The query must have `from json_each(u.hours) e`. */
import { sql } from "drizzle-orm";

export const HOUR_SQL = {
  admitted: sql`iif(e.type = 'integer', e.value, e.value ->> 0)`,
  refused: sql`iif(e.type = 'integer', 0, e.value ->> 1)`,
  banned: sql`iif(e.type = 'integer', 0, e.value ->> 2)`,
  /** JSON: the refusals of each minute, by window. NULL: there are no refusals. */
  minutes: sql`iif(e.type = 'integer', null, e.value -> 3)`,
};
