/** Lists while the table changes: each with an ETag is the table at a revision after the request arrived. */

import { env } from "cloudflare:workers";
import fc from "fast-check";
import { afterEach, beforeEach, describe, type ExpectStatic, it } from "vitest";
import { SIZES } from "../../../src/worker/client/orders/list-sql.ts";
import { DEEP, runs } from "../../support/deep.ts";
import { createKey } from "../../support/factories.ts";
import { seededRandom } from "../../support/random.ts";
import { type App, LIST, startApp } from "../../support/worker.ts";
import { wrapDatabase } from "../../support/wrap-database.ts";

const REAL_SIZES = { ...SIZES };

let key: string;
beforeEach(async () => {
  ({ key } = await createKey({ perMinute: 1_000_000, perDay: 100_000_000 }));
  await env.DB.prepare("delete from orders").run();
});
afterEach(() => {
  Object.assign(SIZES, REAL_SIZES);
});

type State = { readonly etag: string; readonly text: string };

/** The list as the table has it now, built without the change feed. */
async function tableNow(): Promise<State> {
  const [revision, orders] = await env.DB.batch<{ tag: string; json: string }>([
    env.DB.prepare(
      "select revision || '-' || token as tag from order_changes order by revision desc limit 1",
    ),
    env.DB.prepare("select json from order_json order by id"),
  ]);
  return {
    etag: `"${revision?.results[0]?.tag}"`,
    text: `[${orders?.results.map(({ json }) => json).join(",")}]`,
  };
}

/** D1, before each of whose calls `before` runs. */
function database(before: () => Promise<void>): D1Database {
  return wrapDatabase(env.DB, async (_sql, run) => {
    await before();
    return run();
  });
}

const idsOf = (text: string) => Array.from(text.matchAll(/"id":(-?\d+)/g), ([, id]) => id ?? "");

/** Every order that each state has is in the list once, and the list is sorted. */
function expectEachOnce(expect: ExpectStatic, text: string, states: readonly State[]): void {
  const ids = idsOf(text);
  const [first, ...others] = states.map((state) => new Set(idsOf(state.text)));
  const throughout = [...(first ?? [])].filter((id) => others.every((state) => state.has(id)));
  expect(ids).toEqual([...new Set(ids)].sort((a, b) => Number(a) - Number(b)));
  expect(new Set(ids)).toEqual(new Set([...ids, ...throughout]));
}

/** Whole numbers below `n`. */
function randomFrom(seed: number): (n: number) => number {
  const random = seededRandom(seed);
  return (n) => Math.floor(random() * n);
}

/** Every way in which a statement can change the table, and a restore of an earlier revision. */
class Changes {
  readonly states: State[] = [];
  readonly #random: (n: number) => number;
  readonly #copies: { readonly revision: number; readonly rows: string }[] = [];

  constructor(random: (n: number) => number) {
    this.#random = random;
  }

  async make(): Promise<void> {
    const id = () => this.#random(60) - 20;
    const run = (sql: string, ...values: number[]) =>
      env.DB.prepare(sql)
        .bind(...values)
        .run();
    const kind = this.#random(16);
    if (kind < 5)
      await run("insert or ignore into orders (id, quantity) values (?, ?)", id(), this.#random(9));
    else if (kind < 8) await run("update orders set quantity = ? where id = ?", this.#random(9), id());
    else if (kind < 10) await run("delete from orders where id = ?", id());
    else if (kind < 12) await run("update or ignore orders set id = ? where id = ?", id(), id());
    else if (kind === 12) await run("update orders set quantity = ? where id > ?", this.#random(9), id());
    else if (kind === 13) await run("delete from orders where id between ?1 and ?1 + 12", id());
    else if (kind === 14) await run("insert or replace into orders (id) values (?), (?)", id(), id());
    else await this.#restore();
    await this.note();
  }

  async note(): Promise<void> {
    const state = await tableNow();
    this.states.push(state);
    this.#copies.push({ revision: Number(/\d+/.exec(state.etag)?.[0]), rows: state.text });
  }

  /** The feed forgets what came after it. */
  async #restore(): Promise<void> {
    const restored = this.#random(this.#copies.length);
    const copy = this.#copies[restored];
    if (!copy) return;
    this.#copies.length = restored + 1; // a later copy has changes that the feed does not
    await env.DB.batch([
      env.DB.prepare("delete from orders"),
      env.DB.prepare(
        "insert into orders (id, quantity) select value ->> 'id', value ->> 'quantity' from json_each(?)",
      ).bind(copy.rows),
      env.DB.prepare("delete from order_changes where revision > ?").bind(copy.revision),
    ]);
  }
}

describe("a list", () => {
  it("is the table at its ETag's revision, whatever changes between and during the reads of three isolates", async ({
    expect,
  }) => {
    Object.assign(SIZES, {
      ...{ ordersPerPage: 9, ordersPerChunk: 3, chunksReadAgain: 2, changesPerChunk: 3 },
      ...{ maxChanges: 25, ordersPerStreamedPage: 4 },
    });
    let round = 0;
    let snapshots = 0;
    let streams = 0;
    const property = async (seed: number) => {
      const random = randomFrom(seed);
      const changes = new Changes(random);
      await env.DB.prepare("delete from orders").run();
      await changes.note();
      for (let i = 0; i < 15; i++) await changes.make();
      const maxChanges = [16, 2, 1][round++ % 3] ?? 1;
      const DB = database(async () => {
        for (let n = random(maxChanges + 1); n > 0; n--) await changes.make();
      });
      const isolates = [startApp({ DB }), startApp({ DB }), startApp({ DB })];
      for (let i = 0; i < (DEEP ? 8 : 4); i++) {
        const arrived = changes.states.length - 1;
        const response = await (isolates[random(3)] as App)(LIST, { key }); // of three
        const [text, etag] = [await response.text(), response.headers.get("ETag")];
        const since = changes.states.slice(arrived);
        if (etag === null) {
          streams++;
          expectEachOnce(expect, text, since);
        } else {
          snapshots++;
          expect(since).toContainEqual({ etag, text });
        }
      }
    };
    await fc.assert(fc.asyncProperty(fc.integer(), property), { numRuns: runs(4), endOnFailure: true });
    expect(snapshots).toBeGreaterThan(2);
    expect(streams, "the list changes in all rounds of some").toBeGreaterThan(0);
  }, 300_000);

  it("has every order that is there throughout once, while orders are loaded", async ({ expect }) => {
    const there = 10_000;
    const loaded = DEEP ? 100_000 : 10_000;
    const numbers =
      "with recursive n(i) as (select cast(?1 as integer) union all select i + 1 from n where i + 1 < ?2)";
    const insert = (from: number, to: number) =>
      env.DB.prepare(
        `${numbers} insert into orders (id, quantity) select case when i < ${there} then i * 11 else (i - ${there}) / 10 * 11 + 1 + i % 10 end, i % 9 from n`,
      )
        .bind(from, to)
        .run();
    await insert(0, there);
    const throughout = Array.from({ length: there }, (_, i) => String(i * 11));
    let isLoading = true;
    const load = async () => {
      for (let from = there; from < there + loaded; from += 1_000) await insert(from, from + 1_000);
      isLoading = false;
    };
    const apps = [startApp(), startApp()];
    let lists = 0;
    const read = async (app: App) => {
      while (isLoading) {
        const ids = idsOf(await (await app(LIST, { key })).text());
        const seen = new Set(ids);
        expect(seen.size, "no order twice").toBe(ids.length);
        expect(throughout.filter((id) => !seen.has(id))).toEqual([]);
        lists++;
      }
    };
    await Promise.all([load(), ...apps.map(read)]);
    expect(lists).toBeGreaterThan(1);
    const response = await (apps[0] as App)(LIST, { key });
    expect({ etag: response.headers.get("ETag"), text: await response.text() }).toEqual(await tableNow());
  }, 300_000);
});
