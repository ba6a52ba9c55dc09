/** What `npm run deploy` refuses: settings that wrangler accepts although the deployed service could not work. Pure. */
import type { Unstable_Config as Config } from "wrangler";

/** Of one environment, with what wrangler has it inherit. */
export type Settings = Pick<Config, "name" | "d1_databases" | "route" | "routes" | "workers_dev">;

const PLACEHOLDER = /^0{8}-/;

/** Sentences for the person who deploys; none if the settings can be deployed. `production` is given for another environment. */
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

function databaseOf({ d1_databases }: Settings) {
  return d1_databases.find(({ binding }) => binding === "DB");
}

/** Of all routes, without their paths. */
function hostsOf({ route, routes = [] }: Settings): string[] {
  return [...routes, ...(route === undefined ? [] : [route])].flatMap((each) => {
    const pattern = typeof each === "string" ? each : each.pattern;
    return pattern.toLowerCase().split("/", 1);
  });
}
