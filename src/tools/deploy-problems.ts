/** Settings that `npm run deploy` refuses: wrangler accepts them, but they would not work. */
import type { Unstable_Config as Config } from "wrangler";
import { isSetting, readSettings } from "../worker/platform/settings.ts";

/** The settings of one environment, with its inherited settings. */
export type Settings = Pick<Config, "name" | "d1_databases" | "route" | "routes" | "vars" | "workers_dev">;

const PLACEHOLDER = /^0{8}-/;

/** Returns sentences for the person who deploys. Another environment passes `production` to compare with. */
export function deployProblems(settings: Settings, production?: Settings): string[] {
  const problems: string[] = [];
  const { database_name: name, database_id: id = "" } = databaseOf(settings) ?? {};
  if (id === "" || PLACEHOLDER.test(id)) {
    problems.push(
      `The database_id of ${name} is missing or a placeholder. Create the database with "npx wrangler d1 create ${name}", and write the id that it prints into wrangler.toml.`,
    );
  }
  if (settings.workers_dev === false && hostsOf(settings).length === 0) {
    problems.push(
      `${settings.name} has no address. Set routes in wrangler.toml to your domain, or workers_dev = true for a first try.`,
    );
  }
  problems.push(...varProblems(settings));
  if (production === undefined) return problems;

  if (id === databaseOf(production)?.database_id) {
    problems.push(`${settings.name} has the database of production. Create one of its own.`);
  }
  if (settings.name === production.name) {
    problems.push(`Staging has the name of production, ${production.name}. Give it another one.`);
  }
  const shared = hostsOf(settings).filter((host) => hostsOf(production).includes(host));
  if (shared.length > 0) {
    problems.push(
      `${settings.name} has the domain of production: ${shared.join(", ")}. Set its own routes, or routes = [].`,
    );
  }
  return problems;
}

const ANY_WEBHOOK_SECRET = `whsec_${"0".repeat(32)}`;

/**
 * A name with a typo would leave the setting at its default. The webhook's secret is in no file, so this
 * check takes the secret as set.
 */
function varProblems({ name, vars }: Settings): string[] {
  const unknown = Object.keys(vars).filter((each) => !isSetting(each));
  const secret = vars.ALERT_WEBHOOK_URL === undefined ? {} : { ALERT_WEBHOOK_SECRET: ANY_WEBHOOK_SECRET };
  return [
    ...unknown.map((each) => `${name} has a var that the Worker does not know: ${each}.`),
    ...readSettings({ ...secret, ...vars }).problems.map(({ names, rule }) => `${name}: ${names} ${rule}.`),
  ];
}

function databaseOf({ d1_databases }: Settings) {
  return d1_databases.find(({ binding }) => binding === "DB");
}

/** Returns the hosts of all routes, without their paths. */
function hostsOf({ route, routes = [] }: Settings): string[] {
  return [...routes, ...(route === undefined ? [] : [route])].flatMap((each) => {
    const pattern = typeof each === "string" ? each : each.pattern;
    return pattern.toLowerCase().split("/", 1);
  });
}
