/**
 * `npm run deploy` and `npm run deploy:staging`: checks wrangler.toml, applies the migrations, and deploys the Worker. Takes no
 * options: of wrangler's, such as `--dry-run`, only the last step would notice.
 *
 * Exit codes: 0 deployed; 1 wrangler.toml cannot be deployed; 2 the arguments are not valid; otherwise wrangler's.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { ENVIRONMENTS, type EnvironmentName, optionProblem, problemsOf } from "./deploy-problems.ts";
import { messageOf } from "./start-error.ts";
import { WRANGLER } from "./wrangler.ts";

const ENV_OPTION = { production: "--env=", staging: "--env=staging" } as const;

function deploy(environment: EnvironmentName): number {
  // npm runs scripts in the project's folder.
  const problems = problemsIn("wrangler.toml", environment);
  if (problems.length > 0) {
    console.error(`\nNothing was deployed:\n${problems.map((problem) => `- ${problem}\n`).join("")}`);
    return 1;
  }
  const option = ENV_OPTION[environment];
  return wrangler("d1", "migrations", "apply", "DB", "--remote", option) || wrangler("deploy", option);
}

function problemsIn(file: string, environment: EnvironmentName): string[] {
  try {
    return problemsOf(readFileSync(file, "utf8"), environment);
  } catch (thrown) {
    return [`${file} cannot be read: ${messageOf(thrown)}`];
  }
}

/** On the terminal, where wrangler may ask. Returns its exit code. */
function wrangler(...args: string[]): number {
  return spawnSync(process.execPath, [WRANGLER, ...args], { stdio: "inherit" }).status ?? 1;
}

const [name, ...more] = process.argv.slice(2);
const environment = ENVIRONMENTS.find((each) => each === name);
const problem = optionProblem(more, process.env);
if (environment === undefined) {
  console.error(`Name the environment: ${ENVIRONMENTS.join(" or ")}.`);
  process.exitCode = 2;
} else if (problem !== undefined) {
  console.error(`\nNothing was deployed: ${problem}\n`);
  process.exitCode = 2;
} else {
  process.exitCode = deploy(environment);
}
