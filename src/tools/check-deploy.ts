/**
 * The first step of `npm run deploy` and `npm run deploy:staging`: checks wrangler.toml, before wrangler changes anything.
 *
 * Exit codes: 0 the environment can be deployed; 1 not; 2 the argument is not valid.
 */
import { readFileSync } from "node:fs";
import { ENVIRONMENTS, type EnvironmentName, problemsOf } from "./deploy-problems.ts";
import { messageOf } from "./start-error.ts";

function problemsIn(file: string, environment: EnvironmentName): string[] {
  try {
    return problemsOf(readFileSync(file, "utf8"), environment);
  } catch (thrown) {
    return [`${file} cannot be read: ${messageOf(thrown)}`];
  }
}

const environment = ENVIRONMENTS.find((name) => name === process.argv[2]);
if (environment === undefined) {
  console.error(`Name the environment: ${ENVIRONMENTS.join(" or ")}.`);
  process.exitCode = 2;
} else {
  // npm runs scripts in the project's folder.
  const problems = problemsIn("wrangler.toml", environment);
  if (problems.length > 0) {
    console.error(`\nNothing was deployed:\n${problems.map((problem) => `- ${problem}\n`).join("")}`);
    process.exitCode = 1;
  }
}
