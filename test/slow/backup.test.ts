/** `store-orders backup` and its restore with wrangler, as docs/runbook.md has them, on the data of `npm start`. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { beforeAll, describe, it } from "vitest";
import { TABLES } from "../../src/cli/commands/backup.ts";
import { LOCAL_ENV, wranglerCommand } from "../../src/local/wrangler.ts";
import { type Finished, runAdmin, runProcess, runProgram, temporaryFolder } from "../support/cli.ts";
import { codeBlocks, readText } from "../support/sources.ts";
import { freePort, openData, spawnStart } from "../support/start.ts";

const [MIN, MAX] = ["-9223372036854775808", "9223372036854775807"];
const TOKEN = "0123456789abcdef0123456789abcdef";
/** A written-out \n beside a line feed, and what could end a line, a text or a statement of SQL. */
const NOTE = "C:\\new\nx\r\n'; delete from plans; -- ' /* \u{1F43E} \t";

const folder = temporaryFolder();
const [before, after, file] = ["before", "after", "backup.sql"].map((name) => join(folder, name)) as [
  string,
  string,
  string,
];
/** The keys of the demo plans, by name. */
let keys: Record<string, string> = {};

/** Runs `npm start` on a folder, and returns what the action returns. */
async function withService<T>(data: string, action: (url: string, output: string) => Promise<T>): Promise<T> {
  const port = await freePort();
  const vars = join(folder, "vars");
  const service = spawnStart("--port", String(port), "--persist-to", data, "--vars-file", vars);
  await service.until("Ctrl-C stops it.");
  const result = await action(`http://localhost:${port}`, service.output());
  service.child.kill("SIGTERM");
  await service.exited;
  return result;
}

function call(url: string, name: string, path = "", method = "GET"): Promise<Response> {
  const headers = { Authorization: `Bearer ${keys[name]}` };
  return fetch(`${url}/v1/store/orders${path}`, { method, headers });
}

function wrangler(...args: string[]): Promise<Finished> {
  return runProcess(process.execPath, wranglerCommand(args), LOCAL_ENV);
}

beforeAll(async () => {
  writeFileSync(join(folder, "vars"), `ADMIN_TOKEN=${TOKEN}\n`);
  await withService(before, async (url, output) => {
    keys = Object.fromEntries(
      [...output.matchAll(/demo (\w+) +(sok_\w+)/g)].map(([, name, key]) => [name, key]),
    );
    const orders = [MIN, MAX].flatMap((end) => [
      `{"id":${end},"petId":${end},"shipDate":"2026-11-21T12:00:00Z","complete":true}`,
      `{"id":${end.replace(/.$/, "0")},"petId":${end}}`,
    ]);
    const env = { ADMIN_URL: url, ADMIN_TOKEN: TOKEN };
    const admin = async (args: string[], input = "") => {
      const { code, err } = await runAdmin(args, env, { input });
      if (code !== 0) throw new Error(err);
    };
    await admin(["orders", "load", "-"], orders.join("\n"));
    for (const id of [MIN, MAX]) await call(url, "business", `/${id}`, "DELETE");
    await admin(["bans", "set", "demo free", "--for", "1h", "--reason", "a test"]);
    await admin(["keys", "update", "demo business", "--customer", "Pet Shop"]);
    await admin(["links", "create", "--customer", "Pet Shop", "--days", "7"]);
    await admin(["keys", "update", "demo pro", "--note", NOTE.replaceAll(/[\r\t]/g, "")]);
  });
  const db = openData(before);
  db.exec(`insert into orders (id, quantity, version) values (7000, ${MAX}, ${MAX}), (7001, ${MIN}, 1)`);
  const numbers = `with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000)`;
  db.prepare(
    `${numbers} insert into api_keys (id, name, note, plan, created_at, version)
      select printf('key_%012d', i), 'key ' || i, ?, 'free', i, ${MAX} from n`,
  ).run(NOTE);
  db.exec(
    `${numbers} insert into key_secrets (hash, key_id, hint, created_at)
      select printf('%064x', i * 7919 % 2003), printf('key_%012d', i), 'sok_…abcd', i from n`,
  );
  db.exec(
    `insert into usage (day, key_id, plan, admitted, refused, refused_while_banned, limit_per_day, hours)
      values (86400, 'key_000000000001', 'free', ${MAX}, 0, 0, ${MAX}, '[${MAX}]')`,
  );
  db.close();
});

describe("a backup", () => {
  it("is written to a file that git ignores", ({ expect }) => {
    const lines = codeBlocks(readText("docs/runbook.md")).flatMap(({ text }) => text.split("\n"));
    const files = lines.flatMap((line) => / backup (\S+)/.exec(line)?.[1] ?? []);
    expect(files).toEqual(["backup.sql"]);
    expect(readText(".gitignore").split("\n")).toEqual(expect.arrayContaining(files));
  });

  it("restores every row, and every key goes on", { timeout: 400_000 }, async ({ expect }) => {
    const saved = await runProgram("src/cli/main.ts", ["backup", file, "--local", before]);
    expect(saved).toMatchObject({ code: 0, err: "" });
    const local = ["DB", "--env=", "--local", "--persist-to", after];
    await wrangler("d1", "migrations", "apply", ...local);
    const restored = await wrangler("d1", "execute", ...local, "--file", file);
    expect(restored.code, restored.out + restored.err).toBe(0);

    const [old, fresh] = [openData(before), openData(after)];
    for (const table of TABLES) {
      const rowsOf = (db: DatabaseSync) =>
        Map.groupBy(db.prepare(`select * from ${table}`).all(), (row) => Object.values(row).join());
      expect(rowsOf(old).size, table).toBeGreaterThan(0);
      expect(rowsOf(fresh), table).toEqual(rowsOf(old));
    }
    // The list of keys has this order.
    const keysOf = (db: DatabaseSync) => db.prepare("select id from api_keys order by rowid").all();
    expect(keysOf(fresh)).toEqual(keysOf(old));
    const orders = old.prepare("select json from order_json order by id").all();
    old.close();
    fresh.close();
    expect(orders.at(0)?.json).toBe(`{"id":${MIN.replace(/.$/, "0")},"petId":${MIN}}`);
    await withService(after, async (url) => {
      const listed = await call(url, "business");
      expect([listed.status, await listed.text()]).toEqual([
        200,
        `[${orders.map(({ json }) => json).join()}]`,
      ]);
      expect((await call(url, "free")).status).toBe(429); // the ban of an operator
    });
  });
});
