/** `npm run deploy` and `deploy:staging`: checks the sign-in and wrangler.toml, applies the migrations, then deploys. */
import { spawnSync } from "node:child_process";
import { Argument, Command } from "commander";
import { unstable_readConfig as readConfig } from "wrangler";
import { CONFIGURATION, wranglerCommand } from "../local/wrangler.ts";
import { deployProblems } from "./deploy-problems.ts";
import { runTool } from "./run-tool.ts";

function deploy(environment: "production" | "staging"): void {
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
  // Without standard input wrangler asks no question. After a "no", wrangler would end with 0, and the Worker
  // would be deployed without its tables.
  run(["d1", "migrations", "apply", "DB", "--remote", env], "ignore");
  run(["deploy", env], "inherit");
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
    .description("Checks the sign-in and wrangler.toml, applies the migrations, and deploys the Worker.")
    .addArgument(new Argument("<environment>").choices(["production", "staging"]))
    .action(deploy),
);
