/** The chart of a key, which needs no script. */
import { env } from "cloudflare:workers";
import { it } from "vitest";
import { createKey } from "../../support/factories.ts";
import { startEachTestAt } from "../../support/worker.ts";
import { browserWith } from "./browser.ts";

startEachTestAt(Date.UTC(2037, 8, 30, 12, 30));

it("says each figure in a title and in a table, and draws a limit that is near as a line", async ({
  expect,
}) => {
  const { id } = await createKey({ plan: "free" });
  await env.DB.prepare(
    "insert into usage values (unixepoch('2037-09-29'), ?, null, 'pro', 900, 12, 0, 1000, '[900, 12]')",
  )
    .bind(id)
    .run();
  const { get } = await browserWith(env.ADMIN_TOKEN);
  const chartOf = async (range: string) =>
    /<figure class="chart">[\s\S]*<\/figure>/.exec(
      await (await get(`/console/keys/${id}?range=${range}`)).text(),
    )?.[0] ?? "";
  const chart = await chartOf("7d");
  expect(chart).toContain("<title>29 Sept 2037: 900 admitted, 12 refused</title>");
  expect(chart.match(/<rect class="(admitted|refused|banned)"/g)).toHaveLength(2);
  expect(chart).toMatch(/29 Sept 2037<\/th><td[^>]*>(<[^>]*>)*900<.*?>12</);
  expect(chart).toContain('<line class="limit"');
  await env.DB.prepare("update api_keys set requests_per_day = 1000000 where id = ?").bind(id).run();
  expect(await chartOf("7d")).not.toContain('<line class="limit"');
});
