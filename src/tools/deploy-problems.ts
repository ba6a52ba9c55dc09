/** What `npm run deploy` refuses: options, and what wrangler would accept although the deployed service could not work. Pure. */
import { parse } from "smol-toml";
import { withoutValues } from "../cli/typed-values.ts";

export const ENVIRONMENTS = ["production", "staging"] as const;

export type EnvironmentName = (typeof ENVIRONMENTS)[number];

/** What can stand in wrangler.toml. People edit it: a section of another type is left for wrangler to refuse. */
type Section = {
  name?: string;
  d1_databases?: { binding?: string; database_name?: string; database_id?: string }[];
  route?: unknown;
  routes?: unknown[];
  workers_dev?: boolean;
};

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const PLACEHOLDER = /^0{8}-/;

/**
 * Options of `wrangler deploy`, most of which change what is deployed, or where, as npm has them in the environment if `--` was forgotten.
 * Not `tag` and `message`: they are settings of npm too, which an .npmrc may have.
 */
const OPTIONS_TAKEN_BY_NPM = new Set(
  [
    "dry-run env config name profile temporary dispatch-namespace outdir outfile",
    "route routes zone zones zone-id zone-ids domain domains triggers schedule schedules",
    "var keep-vars secrets-file define alias assets site old-asset-ttl logpush",
    "minify upload-source-maps tsconfig jsx-factory jsx-fragment strict durable-objects-code-update-mode",
    "compatibility-date compatibility-flag compatibility-flags latest",
    "env-file cwd bundle metafile autoconfig containers-rollout install-skills experimental-route-zones x-route-zones",
    "call", // npm's own -c
  ].flatMap((names) => names.split(" ")),
);

/** Switches whose off changes something: `--no-bundle`. */
const ON_BY_DEFAULT = new Set(["bundle", "autoconfig", "upload-source-maps"]);

/** A sentence for the person who typed more than the script's name; undefined if nothing more was typed. */
export function optionProblem(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const taken = Object.entries(env).flatMap(([name, value]) => optionTaken(name, value) ?? []);
  const typed = [...new Set(taken), ...args];
  if (typed.length === 0) return undefined;
  const source = taken.length > 0 ? " (npm has it from the command, an .npmrc or the environment)" : "";
  return `${withoutValues(typed.join(" "), args)} is not known here${source}. "npm run deploy" (production) and "npm run deploy:staging" take no options; "npx wrangler deploy --dry-run --env=" is a dry run.`;
}

/** As typed. npm reads its variables without regard to case, and `_` as `-`. An empty one is a switch that is off. */
function optionTaken(variable: string, value: string | undefined): string | undefined {
  const name = variable
    .toLowerCase()
    .replaceAll("_", "-")
    .replace(/^npm-config-/, "");
  if (!/^npm_config_/i.test(variable) || !OPTIONS_TAKEN_BY_NPM.has(name)) return undefined;
  if (!value || value === "false") return ON_BY_DEFAULT.has(name) ? `--no-${name}` : undefined;
  return name === "call" ? "-c" : `--${name}`;
}

/**
 * Sentences for the person who deploys; none if the environment can be deployed. `nameOverride` is WRANGLER_CI_OVERRIDE_NAME, which
 * wrangler prefers to the name in wrangler.toml.
 */
export function problemsOf(toml: string, environment: EnvironmentName, nameOverride?: string): string[] {
  const { top, staging } = sectionsOf(toml);
  if (environment === "production") {
    return [
      ...databaseProblems(top, "at the top level"),
      ...(staging ? sharedProblems(top, staging) : []),
      ...nameProblems(top.name, nameOverride),
      ...addressProblems(top, top, "Production"),
    ];
  }
  if (!staging) return ["wrangler.toml has no [env.staging]."];
  return [
    ...databaseProblems(staging, "under [env.staging]"),
    ...sharedProblems(top, staging),
    ...nameProblems(stagingName(top, staging), nameOverride),
    ...inheritanceProblems(top, staging),
    ...addressProblems(top, staging, "Staging"),
  ];
}

/** Of the Worker that is deployed. */
export function workerNameOf(toml: string, environment: EnvironmentName): string | undefined {
  const { top, staging } = sectionsOf(toml);
  return environment === "production" || !staging ? top.name : stagingName(top, staging);
}

function sectionsOf(toml: string): { top: Section; staging: Section | undefined } {
  // All members are optional, and wrangler checks their types.
  const top = parse(toml) as Section & { env?: { staging?: Section } };
  return { top, staging: top.env?.staging };
}

function databaseOf({ d1_databases: databases }: Section) {
  return Array.isArray(databases) ? databases.find(({ binding }) => binding === "DB") : undefined;
}

function databaseProblems(section: Section, where: string): string[] {
  const database = databaseOf(section);
  if (!database) return [`wrangler.toml has no D1 database with the binding DB ${where}.`];
  const { database_name: name = "store-orders", database_id: id = "" } = database;
  if (UUID.test(id) && !PLACEHOLDER.test(id)) return [];
  const problem =
    id === "" ? "is missing" : `is "${id}", which is ${UUID.test(id) ? "a placeholder" : "no id"}`;
  return [
    `The database_id of ${name} ${problem}. Create the database with "npx wrangler d1 create ${name}", and write the database_id that it prints into wrangler.toml ${where}.`,
  ];
}

/**
 * The smoke test of staging would change production's data, and its migrations would come early; with production's name or host,
 * staging's Worker would take its place.
 */
function sharedProblems(top: Section, staging: Section): string[] {
  const problems: string[] = [];
  const id = databaseOf(staging)?.database_id;
  if (id !== undefined && id.toLowerCase() === databaseOf(top)?.database_id?.toLowerCase()) {
    problems.push("[env.staging] in wrangler.toml has the database of production. Create one of its own.");
  }
  if (top.name !== undefined && stagingName(top, staging) === top.name) {
    problems.push(`[env.staging] in wrangler.toml has the name of production, "${top.name}".`);
  }
  const shared = hostsOf(staging).filter((host) => hostsOf(top).includes(host));
  if (shared.length > 0) {
    problems.push(`[env.staging] in wrangler.toml has a host of production: ${shared.join(", ")}.`);
  }
  return problems;
}

function stagingName(top: Section, staging: Section): string | undefined {
  return staging.name ?? (top.name === undefined ? undefined : `${top.name}-staging`);
}

function nameProblems(name: string | undefined, override: string | undefined): string[] {
  if (name === undefined) return ["wrangler.toml has no name."];
  if (override === undefined || override === name) return [];
  return [
    `WRANGLER_CI_OVERRIDE_NAME is "${override}": wrangler would deploy to that Worker, not to ${name}. Unset it.`,
  ];
}

/** Of all routes, without scheme and path. Of two patterns that differ otherwise, Cloudflare follows the more specific one. */
function hostsOf({ route, routes }: Section): string[] {
  return [route, ...(Array.isArray(routes) ? routes : [])].flatMap((each) => {
    const pattern = typeof each === "object" && each !== null && "pattern" in each ? each.pattern : each;
    if (typeof pattern !== "string" || pattern === "") return [];
    return pattern
      .toLowerCase()
      .replace(/^[^/]*:\/\//, "")
      .split("/", 1);
  });
}

/**
 * Staging would take the domain from production: wrangler inherits `routes` and `route` each by itself, and reads `route` only
 * where there is no `routes`.
 */
function inheritanceProblems(top: Section, staging: Section): string[] {
  if (!hasRoute(top) || staging.routes !== undefined) return [];
  if (top.routes === undefined && staging.route) return [];
  return [
    "[env.staging] in wrangler.toml inherits the domain of production. Set routes there, not route: [] or a domain of its own.",
  ];
}

function addressProblems(top: Section, section: Section, name: string): string[] {
  const workersDev = section.workers_dev ?? top.workers_dev ?? true;
  if (workersDev || hasRoute(section)) return [];
  return [
    `${name} has no address. Set routes in wrangler.toml to your domain, or workers_dev = true for a first try.`,
  ];
}

/** wrangler ignores `route = ""`. */
function hasRoute({ route, routes }: Section): boolean {
  return Boolean(route) || (Array.isArray(routes) && routes.length > 0);
}
