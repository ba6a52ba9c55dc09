/**
 * `npm run deploy` and `npm run deploy:staging`: checks wrangler.toml, applies the migrations, and deploys the Worker. Takes no
 * options: of wrangler's, such as `--dry-run`, only the last step would notice.
 *
 * Exit codes: 0 deployed; 1 wrangler.toml cannot be deployed; 2 the arguments are not valid; otherwise wrangler's.
 */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { ENVIRONMENTS, type EnvironmentName, optionProblem, problemsOf } from "./deploy-problems.ts";
import { endWithNpm } from "./end-with-npm.ts";
import { otherConfigurations } from "./other-configurations.ts";
import { messageOf } from "./start-error.ts";
import { CONFIGURATION, PROJECT_FOLDER, wranglerProgram } from "./wrangler.ts";

const SCRIPTS = {
  production: { script: "deploy", option: "--env=" },
  staging: { script: "deploy:staging", option: "--env=staging" },
} as const;
/** Of a process that SIGTERM has ended: 128 and its number. */
const SIGTERM_EXIT_CODE = 143;

async function deploy(environment: EnvironmentName): Promise<number> {
  const problems = [...otherConfigurationProblems(), ...problemsIn(CONFIGURATION, environment)];
  if (problems.length > 0) {
    console.error(`\nNothing was deployed:\n${problems.map((problem) => `- ${problem}\n`).join("")}`);
    return 1;
  }
  const { script, option } = SCRIPTS[environment];
  endWithNpm(script);
  const migrated = await wrangler("d1", "migrations", "apply", "DB", "--remote", option);
  return migrated || wrangler("deploy", option);
}

function problemsIn(file: string, environment: EnvironmentName): string[] {
  try {
    return problemsOf(readFileSync(file, "utf8"), environment);
  } catch (thrown) {
    return [`${file} cannot be read: ${messageOf(thrown)}`];
  }
}

/** The scripts name wrangler.toml, but the commands of the documents, such as `secret put`, would reach another Worker. */
function otherConfigurationProblems(): string[] {
  return otherConfigurations(PROJECT_FOLDER).map(
    (file) =>
      `"npx wrangler", typed here, would read ${file} instead of wrangler.toml. Remove that file, or move the project to another folder.`,
  );
}

/** On the terminal, where wrangler may ask. Returns its exit code. SIGTERM, also from `endWithNpm`, ends it and this process. */
function wrangler(...args: string[]): Promise<number> {
  const child = spawn(process.execPath, wranglerProgram(args), { cwd: PROJECT_FOLDER, stdio: "inherit" });
  // wrangler exits with 0 after a signal, so its exit code cannot stop the next step.
  const stop = () => {
    child.kill();
    process.exit(SIGTERM_EXIT_CODE);
  };
  process.once("SIGTERM", stop);
  return new Promise((done) => {
    child.once("error", () => done(1));
    child.once("exit", (code) => {
      process.off("SIGTERM", stop);
      done(code ?? 1);
    });
  });
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
  process.exitCode = await deploy(environment);
}
