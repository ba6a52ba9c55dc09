/**
 * `npm run deploy` and `deploy:staging`: checks the sign-in, wrangler.toml and the version of the database, applies
 * the migrations, then deploys.
 */
import { spawnSync } from "node:child_process";
import { Argument, Command } from "commander";
import { unstable_readConfig as readConfig } from "wrangler";
import { askForSchemaProblem, CONFIGURATION, wranglerCommand } from "../local/wrangler.ts";
import { deployProblems } from "./deploy-problems.ts";
import { runTool } from "./run-tool.ts";

async function deploy(environment: "production" | "staging"): Promise<void> {
  const production = readConfig({ config: CONFIGURATION, env: "" });
  const problems = [
    ...(isSignedIn() ? [] : ["You are not signed in to Cloudflare: npx wrangler login"]),
    ...(environment === "production"
      ? deployProblems(production)
      : deployProblems(readConfig({ config: CONFIGURATION, env: "staging" }), production)),
  ];
  if (problems.length > 0)
    throw new Error(`Nothing was deployed.\n${problems.map((each) => `- ${each}`).join("\n")}`);

  const env = environment === "production" ? "--env=" : "--env=staging";
  await checkDatabase(env);
  // Without standard input wrangler asks no question. After a "no", wrangler would end with 0, and the Worker
  // would be deployed without its tables.
  run(["d1", "migrations", "apply", "DB", "--remote", env], "ignore");
  run(["deploy", env], "inherit");
}

/** Throws if the migrations cannot bring the database to this version. */
async function checkDatabase(env: string): Promise<void> {
  const problem = await askForSchemaProblem(["--remote", env]).catch(({ message }: Error) => {
    throw new Error(`Nothing was deployed, because the database could not be read:\n${message}`);
  });
  if (problem?.kind === "oldest" || problem?.kind === "newer")
    throw new Error(`Nothing was deployed.\n- ${problem.says}`);
  if (problem?.kind === "older")
    console.log("The database is of an older version: its migrations are applied.");
}

/** Asks for the credential, which wrangler finds without a request to Cloudflare. The answer is dropped. */
function isSignedIn(): boolean {
  return spawnSync(process.execPath, wranglerCommand(["auth", "token"])).status === 0;
}

function run(args: string[], stdin: "ignore" | "inherit"): void {
  const { status } = spawnSync(process.execPath, wranglerCommand(args), {
    stdio: [stdin, "inherit", "inherit"],
  });
  if (status !== 0) throw new Error(`Deploying stopped: wrangler ${args.join(" ")} failed.`);
}

await runTool(
  new Command("npm run deploy")
    .description(
      "Checks sign-in, wrangler.toml and database, applies the migrations, and deploys the Worker.",
    )
    .addArgument(new Argument("<environment>").choices(["production", "staging"]))
    .action(deploy),
);
