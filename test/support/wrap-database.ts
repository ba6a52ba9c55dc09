/** D1 for tests that count what queries do, let them fail, or make them wait. */

/** Makes a call of D1 with `run`, and does more before and after it. `sql`: one text a statement. */
type Around = (sql: readonly string[], run: () => Promise<D1Result[]>) => Promise<D1Result[]>;

/** The database, each call of which goes through `around`. A batch is one call. */
export function wrapDatabase(db: Pick<D1Database, "prepare" | "batch">, around: Around): D1Database {
  const originals = new WeakMap<object, { statement: D1PreparedStatement; sql: string }>();
  const wrap = (statement: D1PreparedStatement, sql: string): D1PreparedStatement => {
    const all = async () => {
      const [result] = await around([sql], async () => [await statement.all<object>()]);
      if (result === undefined) throw new Error("a statement has one result");
      return result as D1Result<object>; // rows are objects
    };
    const wrapped = {
      bind: (...values: unknown[]) => wrap(statement.bind(...values), sql),
      all,
      run: all,
      // As no query of the Worker has two columns of one name.
      raw: async () => (await all()).results.map((row) => Object.values(row)),
      first: async () => (await all()).results[0] ?? null,
    };
    originals.set(wrapped, { statement, sql });
    return wrapped as unknown as D1PreparedStatement; // drizzle and the Worker use these members only
  };
  const batch = (statements: D1PreparedStatement[]) => {
    const unwrapped = statements.map((each) => originals.get(each) ?? { statement: each, sql: "" });
    return around(
      unwrapped.map(({ sql }) => sql),
      () => db.batch(unwrapped.map(({ statement }) => statement)),
    );
  };
  // The Worker uses these two members only. A use of any other one would throw.
  return { prepare: (sql: string) => wrap(db.prepare(sql), sql), batch } as unknown as D1Database;
}

export type Costs = { calls: number; rowsRead: number; rowsWritten: number };

/** D1, and what its calls have cost since the last `take`. */
export function countCosts(db: D1Database) {
  const none = (): Costs => ({ calls: 0, rowsRead: 0, rowsWritten: 0 });
  let costs = none();
  const DB = wrapDatabase(db, async (_sql, run) => {
    costs.calls++;
    const results = await run();
    for (const { meta } of results) {
      costs.rowsRead += meta.rows_read;
      costs.rowsWritten += meta.rows_written;
    }
    return results;
  });
  const take = () => {
    const taken = costs;
    costs = none();
    return taken;
  };
  return { DB, take };
}
