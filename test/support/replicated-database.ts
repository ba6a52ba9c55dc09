/**
 * D1 with read replication: a primary and two replicas that lag, behind the interface of the binding. All
 * three are local databases. A state is a copy of all rows of the primary, and its number is the bookmark. A
 * replica moves from state to state.
 */
import { applyD1Migrations } from "cloudflare:test";
import { env } from "cloudflare:workers";

type Row = Record<string, unknown>;
/** The rows of each table as JSON. */
type State = ReadonlyMap<string, string>;

class Replica {
  readonly database: D1Database;
  readonly #tables = new Map<string, string>();
  state = 0;

  constructor(database: D1Database) {
    this.database = database;
  }

  /** Copies the tables that differ. */
  async apply(number: number, state: State): Promise<void> {
    this.state = number;
    const statements = [...state].flatMap(([table, json]) => {
      if (this.#tables.get(table) === json) return [];
      this.#tables.set(table, json);
      const empty = this.database.prepare(`delete from ${table}`);
      const [first]: Row[] = JSON.parse(json);
      if (!first) return [empty];
      const columns = Object.keys(first);
      const values = columns.map((column) => `value ->> '$.${column}'`);
      const sql = `insert into ${table} (${columns}) select ${values} from json_each(?)`;
      return [empty, this.database.prepare(sql).bind(json)];
    });
    const deferForeignKeys = this.database.prepare("pragma defer_foreign_keys = on");
    await this.database.batch([deferForeignKeys, ...statements]);
  }
}

export class ReplicatedDatabase {
  readonly #primary = env.DB;
  readonly #replicas: readonly Replica[];
  readonly #states: State[] = [];
  readonly #tables: readonly string[];
  #random: () => number = Math.random;
  /** One query at a time: a replica must not change while it answers. */
  #queue: Promise<unknown> = Promise.resolve();
  #failuresOfReplicas = 0;
  #failureMessage = "";
  readsOfReplicas = 0;
  readsOfOldStates = 0;

  private constructor(replicas: readonly Replica[], tables: readonly string[]) {
    this.#replicas = replicas;
    this.#tables = tables;
  }

  static async create(): Promise<ReplicatedDatabase> {
    const replicas = [env.DB_REPLICA_1, env.DB_REPLICA_2];
    for (const replica of replicas) {
      await applyD1Migrations(replica, env.TEST_MIGRATIONS);
      const triggers = await namesOf(replica, "trigger");
      await replica.batch(triggers.map((name) => replica.prepare(`drop trigger ${name}`)));
    }
    const tables = (await namesOf(env.DB, "table")).filter((name) => !/^(_cf_|d1_|sqlite_)/.test(name));
    const database = new ReplicatedDatabase(
      replicas.map((replica) => new Replica(replica)),
      tables,
    );
    await database.replicate();
    return database;
  }

  /** Copies rows that were written to the primary past this object to its newest state and the replicas. */
  replicate(): Promise<void> {
    return this.#inTurn(async () => {
      await this.#addState();
      for (const replica of this.#replicas) await this.#moveTo(replica, this.#states.length - 1);
    });
  }

  /** Chooses the copies and their lag from now on; numbers from 0 to 1. */
  set random(random: () => number) {
    this.#random = random;
  }

  /** The next reads of replicas fail. */
  failReplicas(reads: number, message = "D1_ERROR: Network connection lost."): void {
    this.#failuresOfReplicas = reads;
    this.#failureMessage = message;
  }

  get binding(): D1Database {
    // The app uses these members only. Without a session every query goes to the primary.
    return {
      ...this.#clientOf(() => "primary"),
      withSession: (start: string) => this.#session(start),
    } as unknown as D1Database;
  }

  #session(start: string): D1DatabaseSession {
    let bookmark = /^\d+$/.test(start) ? Number(start) : null;
    const isPrimaryFirst = start === "first-primary";
    const client = this.#clientOf(
      () => (isPrimaryFirst && bookmark === null ? "primary" : { atLeast: bookmark ?? 0 }),
      (state) => {
        bookmark = Math.max(bookmark ?? 0, state);
      },
    );
    return {
      ...client,
      getBookmark: () => (bookmark === null ? null : String(bookmark).padStart(8, "0")),
    } as unknown as D1DatabaseSession; // the app uses these members only
  }

  #clientOf(copy: () => "primary" | { atLeast: number }, onAnswer: (state: number) => void = () => {}) {
    const run = <T>(sql: readonly string[], query: (database: D1Database) => Promise<T>) =>
      this.#inTurn(async () => {
        const isWrite = !sql.every((text) => /^\s*(select|with)\b/i.test(text));
        const wanted = copy();
        const chosen = isWrite || wanted === "primary" ? "primary" : this.#choose();
        if (wanted === "primary" || chosen === "primary") {
          const result = await query(this.#primary);
          if (isWrite) await this.#addState();
          onAnswer(this.#states.length - 1);
          return result;
        }
        await this.#advance(chosen, wanted.atLeast);
        const result = await query(chosen.database);
        onAnswer(chosen.state);
        return result;
      });
    return {
      prepare: (sql: string) => new Statement(sql, [], run),
      batch: (statements: Statement[]) =>
        run(
          statements.map(({ sql }) => sql),
          (database) => database.batch(statements.map((statement) => statement.on(database))),
        ),
    };
  }

  #choose(): Replica | "primary" {
    return [...this.#replicas, "primary" as const][Math.floor(this.#random() * 3)] ?? "primary";
  }

  /** To a random state between the one that the session needs and the newest. */
  async #advance(replica: Replica, atLeast: number): Promise<void> {
    if (this.#failuresOfReplicas > 0) {
      this.#failuresOfReplicas--;
      throw new Error(this.#failureMessage);
    }
    const newest = this.#states.length - 1;
    const oldest = Math.max(atLeast, replica.state);
    // Most reads find the replica as it is.
    const target =
      this.#random() < 0.7 ? oldest : oldest + Math.floor(this.#random() * (newest - oldest + 1));
    await this.#moveTo(replica, target);
    this.readsOfReplicas++;
    if (target < newest) this.readsOfOldStates++;
  }

  async #moveTo(replica: Replica, number: number): Promise<void> {
    const state = this.#states[number];
    if (state && number !== replica.state) await replica.apply(number, state);
  }

  async #addState(): Promise<void> {
    const results = await this.#primary.batch<Row>(
      this.#tables.map((table) => this.#primary.prepare(`select * from ${table}`)),
    );
    this.#states.push(
      new Map(this.#tables.map((table, i) => [table, JSON.stringify(results[i]?.results ?? [])])),
    );
  }

  #inTurn<T>(query: () => Promise<T>): Promise<T> {
    const result = this.#queue.then(query);
    this.#queue = result.catch(() => {});
    return result;
  }
}

type Run = <T>(sql: readonly string[], query: (database: D1Database) => Promise<T>) => Promise<T>;

/** A prepared statement whose copy is chosen when it runs. */
class Statement {
  readonly sql: string;
  readonly #values: readonly unknown[];
  readonly #run: Run;

  constructor(sql: string, values: readonly unknown[], run: Run) {
    this.sql = sql;
    this.#values = values;
    this.#run = run;
  }

  bind(...values: unknown[]): Statement {
    return new Statement(this.sql, values, this.#run);
  }

  on(database: D1Database): D1PreparedStatement {
    return database.prepare(this.sql).bind(...this.#values);
  }

  all = () => this.#call((statement) => statement.all());
  raw = () => this.#call((statement) => statement.raw());
  run = () => this.#call((statement) => statement.run());
  first = () => this.#call((statement) => statement.first());

  #call(method: (statement: D1PreparedStatement) => Promise<unknown>): Promise<unknown> {
    return this.#run([this.sql], (database) => method(this.on(database)));
  }
}

async function namesOf(database: D1Database, type: "table" | "trigger"): Promise<string[]> {
  const { results } = await database
    .prepare("select name from sqlite_master where type = ?")
    .bind(type)
    .all<{ name: string }>();
  return results.map(({ name }) => name);
}
