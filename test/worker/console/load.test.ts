/** The page that loads a file of orders. */
import { env } from "cloudflare:workers";
import { describe, it } from "vitest";
import { insertOrders, newOrderId } from "../../support/factories.ts";
import { startApp } from "../../support/worker.ts";
import { wrapDatabase } from "../../support/wrap-database.ts";
import { operatorOf } from "../admin/admin-support.ts";
import { browserWith, formOn } from "./browser.ts";

describe("the page that loads orders", () => {
  it("loads a file, or says what a load would do, and shows the wrong lines", async ({ expect }) => {
    const { post } = await browserWith(env.ADMIN_TOKEN);
    const id = newOrderId();
    const load = async (fields: Record<string, string>, text: string) => {
      const form = new FormData();
      form.set("file", new File([text], "orders.txt"));
      for (const [name, value] of Object.entries(fields)) form.set(name, value);
      return (await post("/console/orders/load", form)).text();
    };
    const status = () => env.DB.prepare("select status from orders where id = ?").bind(id).first("status");

    const file = `id,status\r\n${id},shipped\r\nx,\r\n`;
    const dryRun = await load({ "dry-run": "true" }, file);
    expect(dryRun).toContain("Dry run: nothing was stored. Would be loaded: 1 inserted");
    expect(await status()).toBeNull();
    const page = await load({}, file);
    expect(page).toContain("Loaded: 1 inserted, 0 updated, 0 unchanged");
    expect(page).toMatch(/<strong>Line 3<\/strong>: [^<]*<pre>x,/);

    const old = `id,status\r\n${id},pending\r\n`;
    expect(await load({}, old)).toContain("The status of 1 order would have gone back, and was kept.");
    expect(await load({ "allow-backwards": "true" }, old)).toContain("1 updated");
    expect(await status()).toBe("pending");
  });

  it("offers the undo of the whole file, and says first what it would do", async ({ expect }) => {
    const { get, post } = await browserWith(env.ADMIN_TOKEN);
    const known = newOrderId();
    await insertOrders({ id: known, quantity: "9007199254740993" });
    const stored = async () =>
      (await env.DB.prepare("select quantity from orders where id = ?").bind(known).all()).results;
    const before = await stored();
    const form = new FormData();
    // More than one batch.
    const others = Array.from({ length: 2_500 }, newOrderId);
    const rows = [known, ...others].map((id) => `${id},7`);
    form.set("file", new File([["id,quantity", ...rows].join("\n")], "wrong.csv"));
    const asked = formOn(await (await post("/console/orders/load", form)).text(), "Undo");
    const preview = await (await post(asked.path, asked.fields)).text();
    expect(preview).toContain("the load of wrong.csv is undone: 1 order as before, 2,500 deleted.");
    expect(await stored()).not.toEqual(before);
    const undo = formOn(preview, "Undo");
    expect(await (await post(undo.path, undo.fields)).text()).toContain("1 order as before, 2,500 deleted.");
    expect(await stored()).toEqual(before);
    const audit = (await (await get("/console/audit?call=audit.undo")).text()).replace(/<[^>]+>/g, "");
    expect(audit).toContain("the load of wrong.csv is undone: 1 order as before, 2,500 deleted");
  });

  it("offers the undo after somebody else has loaded a file meanwhile", async ({ expect }) => {
    const other = operatorOf(startApp());
    const DB = wrapDatabase(env.DB, async (sql, run) => {
      if (sql.some((each) => /from "audit_log"/.test(each)))
        expect((await other("PUT", "/orders", [{ id: newOrderId() }])).status).toBe(200);
      return run();
    });
    const { post } = await browserWith(env.ADMIN_TOKEN, { DB });
    const form = new FormData();
    form.set("file", new File([`id\n${newOrderId()}`], "mine.csv"));
    expect(await (await post("/console/orders/load", form)).text()).toContain(">Undo</button>");
  });

  it("ends after 10,000 wrong lines and 100,000 orders, and is small", async ({ expect }) => {
    const { post } = await browserWith(env.ADMIN_TOKEN);
    const load = async (text: string) => {
      const form = new FormData();
      form.set("file", new File([text], "orders.txt"));
      return (await post("/console/orders/load", form)).text();
    };
    const wrong = await load(`[${"1,".repeat(10_001)}1]`);
    expect(wrong).toContain("Nothing was loaded. More than 10,000 lines are wrong.");
    expect(wrong.length).toBeLessThan(1_000_000);
    const many = Array.from({ length: 100_001 }, (_, i) => `{"id":${i}}`);
    expect(await load(`[${many}]`)).toContain("Nothing was loaded. The file has more than 100,000 orders");
  });
});
