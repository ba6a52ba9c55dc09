/** The charts of a key, which need no script. */
import { env } from "cloudflare:workers";
import { it } from "vitest";
import { createKey } from "../../support/factories.ts";
import { startEachTestAt } from "../../support/worker.ts";
import { browserWith } from "./browser.ts";

startEachTestAt(Date.UTC(2037, 8, 30, 12, 30));

it("say each figure in a title and in a table, and draw each day beside the limit of the day", async ({
  expect,
}) => {
  const { id } = await createKey({ plan: "business" });
  await env.DB.prepare(
    "insert into usage values (unixepoch('2037-09-28'), ?1, null, 'pro', 500, 0, 0, 1000, '{}', '[500]'), (unixepoch('2037-09-29'), ?1, null, 'pro', 900, 12, 0, 3600, '{}', '[900, 12]'), (unixepoch('2037-09-30'), ?1, null, 'pro', 900, 0, 0, 100000, '{}', '[900]')",
  )
    .bind(id)
    .run();
  const { get } = await browserWith(env.ADMIN_TOKEN);
  const page = await (await get(`/console/keys/${id}`)).text();
  const [chart = ""] = /<figure class="chart">[\s\S]*<\/figure>/.exec(page) ?? [];
  expect(chart).toContain("<title>29 Sept 2037: 900 admitted, 12 refused</title>");
  expect(chart.match(/<rect class="(admitted|refused|banned)"/g)).toHaveLength(4);
  expect(chart).toMatch(/29 Sept 2037<\/th><td[^>]*>(<[^>]*>)*900<.*?>12</);
  // A limit that is far away would leave the bars too little room.
  expect(chart.match(/<line class="limit"/g)).toHaveLength(2);
  const keys = await (await get("/console/keys")).text();
  const [sparkline = ""] = /<svg class="sparkline"[\s\S]*?<\/svg>/.exec(keys) ?? [];
  expect(sparkline).toContain("<title>at most 50 % of the limit of the day</title>");
  expect(
    [...sparkline.matchAll(/height="(\d+)"(?: class="refused")?><\/rect>/g)].map(([, each]) => each),
  ).toEqual(["9", "5", "2", "1"]);
});
