/** axe-core in a page: finds violations of WCAG and of good practice. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import type { Page } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** The violations as text, of all rules or of some. */
export async function axeViolations(page: Page, rules: readonly string[] = []): Promise<string[]> {
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(AXE);
  // Of WCAG 2.2, and off by default.
  const more = { "target-size": { enabled: true } };
  const options = {
    resultTypes: ["violations"],
    rules: more,
    ...(rules.length === 0 ? {} : { runOnly: rules }),
  };
  const { violations } = await page.evaluate<AxeResults>(`axe.run(${JSON.stringify(options)})`);
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
}
