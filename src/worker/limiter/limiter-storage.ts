/** A limiter's storage: its whole state as JSON in one row, because rows written are what a limiter costs. */
import { type LimiterState, NEW_LIMITER } from "./core/limiter-state.ts";

export class LimiterStorage {
  readonly #storage: DurableObjectStorage;
  readonly #sql: SqlStorage;
  #hasTable: boolean;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
    this.#sql = storage.sql;
    this.#hasTable =
      this.#sql.exec("select 1 from sqlite_master where name = 'limiter_state'").toArray().length > 0;
  }

  load(): LimiterState {
    if (!this.#hasTable) return NEW_LIMITER;
    const [row] = this.#sql.exec<{ state: string }>("select state from limiter_state").toArray();
    // Only `save` writes this row. Members that came with a later deploy are filled in.
    return row ? { ...NEW_LIMITER, ...(JSON.parse(row.state) as LimiterState) } : NEW_LIMITER;
  }

  save(state: LimiterState): void {
    if (!this.#hasTable) {
      this.#sql.exec(
        "create table if not exists limiter_state (id integer primary key check (id = 1), state text not null) strict",
      );
      this.#hasTable = true;
    }
    this.#sql.exec("insert or replace into limiter_state (id, state) values (1, ?)", JSON.stringify(state));
  }

  /** The whole storage, the alarm included. The table still exists if this fails: `save` finds either outcome. */
  async deleteAll(): Promise<void> {
    this.#hasTable = false;
    await this.#storage.deleteAll();
  }
}
