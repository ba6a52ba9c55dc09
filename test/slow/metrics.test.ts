/**
 * Prometheus reads `GET /admin/metrics` with the configuration of docs/operate.md, and knows each metric of
 * the dashboard. The server reads OpenMetrics, and `promtool check metrics` the older text format.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "vitest";
import { PROJECT, temporaryFolder } from "../support/cli.ts";
import { ADMIN_TOKEN, LIST, startService } from "../support/service.ts";
import { codeBlocks, readText } from "../support/sources.ts";
import { freePort, spawnGroup } from "../support/start.ts";

type Panel = { targets: { expr: string }[] };

const isInstalled = spawnSync("prometheus", ["--version"]).status === 0;
if (!isInstalled)
  process.stderr.write("SKIPPED: no prometheus here. On Debian: apt-get install prometheus\n");

/** The configuration of the document, for this service and each second. */
function configurationOf({ host }: URL, tokenFile: string): string {
  const block = codeBlocks(readText("docs/operate.md")).find(({ text }) => text.includes("scrape_configs:"));
  return (block?.text ?? "")
    .replace("https", "http")
    .replace("api.example.com", host)
    .replace(/(?<=credentials_file: )\S+/, tokenFile)
    .replace("1m", "1s");
}

const HOUR = 3_600;

/** A day that ends at `end`, each minute of it as one scrape was. A request a second, counted from each midnight on. */
function daysOf(openMetrics: string, end: number): string {
  const times = Array.from({ length: 24 * 60 }, (_, i) => end - i * 60).reverse();
  const lines = openMetrics.split("\n").filter((line) => !/^$|_created|# EOF/.test(line));
  const all = lines.flatMap((line) => {
    if (line.startsWith("#")) return [line];
    const [, series = "", value] = /^(.*) (\S+)$/.exec(line) ?? [];
    return times.map((at) => `${series} ${series.includes("_total{") ? at % (24 * HOUR) : value} ${at}`);
  });
  return [...all, "# EOF", ""].join("\n");
}

describe.skipIf(!isInstalled)("Prometheus", () => {
  it("reads the metrics, and answers each question of the dashboard", async ({ expect }) => {
    const service = await startService({
      ALERT_WEBHOOK_URL: "https://hooks.example/alerts",
      ALERT_WEBHOOK_SECRET: `whsec_${btoa("a secret of the webhook, for tests")}`,
    });
    const { key, id } = await service.createKey({ plan: "free" });
    for (let i = 0; i < 3; i++) await service.call(key, LIST);
    await service.admin("PUT", `/keys/${id}/ban`, { seconds: 600, reason: "a test" });

    const scrape = async (accept: string) => {
      const headers = { Authorization: `Bearer ${ADMIN_TOKEN}`, Accept: accept };
      return (await fetch(new URL("/admin/metrics?keys=top", service.url), { headers })).text();
    };
    const input = await scrape("text/plain");
    const linted = spawnSync("promtool", ["check", "metrics"], { encoding: "utf8", input });
    expect([linted.status, linted.stdout + linted.stderr]).toEqual([0, ""]);

    const folder = temporaryFolder();
    const [config, token] = [join(folder, "prometheus.yml"), join(folder, "token")];
    writeFileSync(token, ADMIN_TOKEN);
    writeFileSync(config, configurationOf(new URL(service.url), token));
    const day = join(folder, "day.txt");
    const end = Math.trunc(Date.now() / 1000) - 3 * HOUR;
    writeFileSync(day, daysOf(await scrape("application/openmetrics-text"), end));
    const data = join(folder, "data");
    const filled = spawnSync("promtool", ["tsdb", "create-blocks-from", "openmetrics", day, data]);
    expect(filled.status, String(filled.stderr)).toBe(0);
    const checked = spawnSync("promtool", ["check", "config", config], { encoding: "utf8" });
    expect(checked.status, checked.stdout + checked.stderr).toBe(0);
    const port = await freePort();
    const listens = `--web.listen-address=127.0.0.1:${port}`;
    const files = [`--config.file=${config}`, `--storage.tsdb.path=${data}`];
    const prometheus = spawnGroup("prometheus", [...files, listens]);
    await prometheus.until("Server is ready to receive web requests.");

    const ask = async (path: string) => {
      const response = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`);
      return JSON.parse(await response.text()).data; // a type for each path would say no more
    };
    const query = async (expr: string) => (await ask(`query?query=${encodeURIComponent(expr)}`))?.result;
    const hours = async (expr: string) => {
      const times = `start=${end - 22 * HOUR}&end=${end}&step=${HOUR}`;
      return (await ask(`query_range?query=${encodeURIComponent(expr)}&${times}`)).result[0]?.values ?? [];
    };
    const lastError = async () => (await ask("targets")).activeTargets[0]?.lastError;
    const scrapes = async () => Number((await query("count_over_time(up[1m])"))[0]?.value[1] ?? 0);
    await expect.poll(scrapes, { timeout: 20_000 }).toBeGreaterThan(2);
    expect(await lastError()).toBe("");
    const known = await ask("metadata");
    expect(known.store_orders_requests[0]).toMatchObject({ type: "counter" });
    expect(known.store_orders_as_of_timestamp_seconds[0]).toMatchObject({ type: "gauge", unit: "seconds" });
    expect((await query("sum(store_orders_bans)"))[0].value[1]).toBe("1");
    const dashboard = JSON.parse(readFileSync(join(PROJECT, "docs/grafana-dashboard.json"), "utf8"));
    const panels: Panel[] = dashboard.panels;
    for (const { expr } of panels.flatMap(({ targets }) => targets)) {
      expect((await query(expr))?.length, expr).toBeGreaterThan(0);
      expect((await hours(expr)).length, expr).toBe(23);
    }
    const grown = await hours('increase(store_orders_requests_total{plan="pro",outcome="admitted"}[1h])');
    // One of them has midnight, where the counter begins again.
    for (const [, value] of grown) expect(Math.abs(Number(value) - HOUR)).toBeLessThan(HOUR / 10);
    process.kill(prometheus.child.pid ?? 0, "SIGTERM");
    await prometheus.exited;
    await service.close();
  });
});
