/** SQL of an element of the column `hours` of `usage`, as `json_each` has it: `from json_each(u.hours) e`. */
import { sql } from "drizzle-orm";

export const HOUR_SQL = {
  admitted: sql`iif(e.type = 'integer', e.value, e.value ->> 0)`,
  refused: sql`iif(e.type = 'integer', 0, e.value ->> 1)`,
  banned: sql`iif(e.type = 'integer', 0, e.value ->> 2)`,
  /** JSON: for each minute with refusals, by what and how many. NULL: none. */
  minutes: sql`iif(e.type = 'integer', null, e.value -> 3)`,
};
