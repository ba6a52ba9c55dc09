/** Settings that `npm run deploy` refuses: wrangler accepts them, but they would not work. */
import type { Unstable_Config as Config } from "wrangler";
import type { Bindings as WorkerBindings } from "../worker/context.ts";
import { isSecret, isSetting, readSettings, type Vars } from "../worker/platform/settings.ts";

/** The settings of one environment, with its inherited settings. */
export type DeployedSettings = Pick<
  Config,
  "name" | "d1_databases" | "durable_objects" | "ratelimits" | "route" | "routes" | "vars" | "workers_dev"
>;

/** The bindings of the Worker that are no vars. wrangler.toml repeats each for staging. */
const BINDINGS: Record<Exclude<keyof WorkerBindings, keyof Vars>, true> = {
  ADMIN_SIGN_IN_IP_RATE_LIMIT: true,
  DB: true,
  KEY_LIMITER: true,
  OWNER_LIMITER: true,
};

const PLACEHOLDER = /^0{8}-/;

/** Returns sentences for the person who deploys. Another environment passes `production` to compare with. */
export function deployProblems(settings: DeployedSettings, production?: DeployedSettings): string[] {
  const { name } = settings;
  const lacking = Object.keys(BINDINGS).filter((each) => !bindingsOf(settings).includes(each));
  const problems = [
    ...varProblems(settings),
    ...lacking.map(
      (each) => `${name} lacks the binding ${each}: each environment of wrangler.toml needs its own.`,
    ),
  ];
  const { database_name: database, database_id: id = "" } = databaseOf(settings) ?? {};
  if (database !== undefined && (id === "" || PLACEHOLDER.test(id))) {
    problems.push(
      `The database_id of ${database} is missing or a placeholder. Create the database with "npx wrangler d1 create ${database} --location weur" (or eeur, apac, oc, wnam, enam: near most of your clients), and write the id that it prints into wrangler.toml.`,
    );
  }
  if (settings.workers_dev === false && hostsOf(settings).length === 0) {
    problems.push(
      `${name} has no address. Set routes in wrangler.toml to your domain, or workers_dev = true for a first try.`,
    );
  }
  if (production === undefined) return problems;

  const shared = Object.entries(ownOf(production)).flatMap(([what, values]) => {
    const own = ownOf(settings)[what] ?? [];
    return values.some((value) => own.includes(value)) ? [what] : [];
  });
  return [
    ...problems,
    ...shared.map(
      (what) => `${name} has the ${what} of production. Give it one of its own in wrangler.toml.`,
    ),
  ];
}

/** What no two environments may share: a database would have the rows of both, and a namespace counts for both. */
function ownOf(settings: DeployedSettings): Readonly<Record<string, readonly unknown[]>> {
  return {
    name: [settings.name],
    database: settings.d1_databases.map(({ database_id }) => database_id),
    namespace_id: settings.ratelimits.map(({ namespace_id }) => namespace_id),
    domain: hostsOf(settings),
  };
}

/** Returns a sentence for each var or secret that would be off. A name with a typo leaves its setting off. */
export function settingProblems(vars: Readonly<Record<string, unknown>>): string[] {
  const unknown = Object.keys(vars).filter((name) => !isSetting(name));
  return [
    ...unknown.map((name) => `The Worker knows no setting ${name}.`),
    ...readSettings(vars).problems.map(({ names, rule }) => `${names} ${rule}.`),
  ];
}

/** Anybody with the code reads a var, and with each deploy the var replaces the secret of its name. */
function varProblems({ name, vars }: DeployedSettings): string[] {
  const [secret, others] = [Object.keys(vars).filter(isSecret), Object.entries(vars)];
  return [
    ...secret.map(
      (each) =>
        `${each} is a secret: take it out of the vars of ${name}, choose a new value, and run "npx wrangler secret put ${each}".`,
    ),
    ...settingProblems(Object.fromEntries(others.filter(([each]) => !isSecret(each)))).map(
      (each) => `${name}: ${each}`,
    ),
  ];
}

function bindingsOf({ d1_databases, durable_objects, ratelimits }: DeployedSettings): string[] {
  const named = [...durable_objects.bindings, ...ratelimits].map(({ name }) => name);
  return [...d1_databases.map(({ binding }) => binding), ...named];
}

function databaseOf({ d1_databases }: DeployedSettings) {
  return d1_databases.find(({ binding }) => binding === "DB");
}

/** Returns the hosts of all routes, without their paths. */
function hostsOf({ route, routes = [] }: DeployedSettings): string[] {
  return [...routes, ...(route === undefined ? [] : [route])].flatMap((each) => {
    const pattern = typeof each === "string" ? each : each.pattern;
    return pattern.toLowerCase().split("/", 1);
  });
}
