/**
 * `npm run deploy` and `npm run deploy:staging`: checks wrangler.toml, applies the migrations, and deploys the Worker if none is
 * left. Takes no options: of wrangler's, such as `--dry-run`, only the last step would notice.
 *
 * Exit codes: 0 deployed; 1 wrangler.toml cannot be deployed, a migration is left, or a question of wrangler was answered with no; 2 the
 * arguments are not valid; otherwise wrangler's.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  ENVIRONMENTS,
  type EnvironmentName,
  optionProblem,
  problemsOf,
  workerNameOf,
} from "./deploy-problems.ts";
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
  const folder = problems.length > 0 ? undefined : temporaryFolder(problems);
  if (folder === undefined) {
    console.error(`\nNothing was deployed:\n${problems.map((problem) => `- ${problem}\n`).join("")}`);
    return 1;
  }
  const { script, option } = SCRIPTS[environment];
  endWithNpm(script);
  const migrations = ["d1", "migrations"];
  const applied = await wrangler([...migrations, "apply", "DB", "--remote", option]);
  if (applied.code !== 0) return applied.code;
  // `apply` exits with 0 also when its question was answered with no.
  const listed = await wrangler([...migrations, "list", "DB", "--remote", option], "pipe");
  if (listed.code !== 0) {
    console.error(`${listed.output}\nThe Worker was not deployed: the migrations could not be listed.\n`);
    return listed.code;
  }
  if (!listed.output.includes("No migrations to apply")) {
    console.error(
      `${listed.output}\nThe Worker was not deployed: it needs all migrations. Run npm run ${script} again, and answer yes.\n`,
    );
    return 1;
  }
  return deployWorker(environment, join(folder, "output"));
}

/** Made before the migrations are applied, because nothing can be deployed without it. Adds why there is none. */
function temporaryFolder(problems: string[]): string | undefined {
  try {
    const folder = mkdtempSync(join(tmpdir(), "store-orders-deploy-"));
    // Also after SIGTERM, but not after SIGINT or SIGHUP, nor if wrangler, which got the signal too, still writes into it.
    process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
    return folder;
  } catch (thrown) {
    problems.push(`The folder for temporary files (TMPDIR) cannot be used: ${messageOf(thrown)}`);
    return undefined;
  }
}

/** `wrangler deploy` exits with 0 also when its question was answered with no. Its output file then has no version. */
async function deployWorker(environment: EnvironmentName, file: string): Promise<number> {
  const { code } = await wrangler(["deploy", SCRIPTS[environment].option], "inherit", {
    WRANGLER_OUTPUT_FILE_PATH: file,
    // wrangler would take another name from a .env file.
    WRANGLER_CI_OVERRIDE_NAME: workerNameOf(readFileSync(CONFIGURATION, "utf8"), environment),
  });
  if (code !== 0 || hasVersion(file)) return code;
  console.error(
    "\nThe Worker was not deployed: wrangler has uploaded no version, as after a question answered with no.\n",
  );
  return 1;
}

type OutputEntry = { readonly type?: string; readonly version_id?: string | null };

/** The file has a line of JSON for each thing done. */
function hasVersion(file: string): boolean {
  if (!existsSync(file)) return false;
  const lines = readFileSync(file, "utf8").trim().split("\n");
  const entries: OutputEntry[] = lines.map((line) => JSON.parse(line));
  return entries.some(({ type, version_id: version }) => type === "deploy" && Boolean(version));
}

function problemsIn(file: string, environment: EnvironmentName): string[] {
  try {
    return problemsOf(readFileSync(file, "utf8"), environment, process.env.WRANGLER_CI_OVERRIDE_NAME);
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

/**
 * On the terminal, where wrangler may ask; with "pipe" it does not ask, and its output is returned. SIGTERM, also from
 * `endWithNpm`, ends it and this process.
 */
function wrangler(
  args: string[],
  stdout: "inherit" | "pipe" = "inherit",
  more: Readonly<NodeJS.ProcessEnv> = {},
): Promise<{ code: number; output: string }> {
  const child = spawn(process.execPath, wranglerProgram(args), {
    cwd: PROJECT_FOLDER,
    stdio: ["inherit", stdout, "inherit"],
    // Otherwise a level above "log" would leave out what is read here.
    env: { ...process.env, ...(stdout === "pipe" ? { WRANGLER_LOG: "log" } : {}), ...more },
  });
  // wrangler exits with 0 after a signal, so its exit code cannot stop the next step.
  const stop = () => {
    child.kill();
    process.exit(SIGTERM_EXIT_CODE);
  };
  process.once("SIGTERM", stop);
  let output = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  return new Promise((done) => {
    child.once("error", () => done({ code: 1, output }));
    child.once("close", (code) => {
      process.off("SIGTERM", stop);
      done({ code: code ?? 1, output });
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
