/**
 * `dev-server.ts PORT STATE VARS_FILE`: what `wrangler dev` does, without its ports for debugging. Any program of the machine,
 * and any page in a browser of it, could read the admin token through the runtime's inspector. `wrangler dev` has no option
 * that turns it off.
 */
import { join } from "node:path";
import { unstable_startWorker } from "wrangler";
import { forwardIpv6Loopback } from "./ipv6-loopback.ts";
import { PROJECT_FOLDER } from "./wrangler.ts";

const [port, persist = "", varsFile = ""] = process.argv.slice(2);

await forwardIpv6Loopback(Number(port));
const { ready } = await unstable_startWorker({
  config: join(PROJECT_FOLDER, "wrangler.toml"),
  env: "",
  envFiles: [varsFile],
  dev: {
    remote: false,
    server: { hostname: "127.0.0.1", port: Number(port) },
    inferOriginFromRoutes: false, // otherwise the Worker would take the domain in `routes` for its own address
    persist,
    inspector: false,
    // The registry of local Workers has the address of a debug port, which calls their entry points and objects.
    registry: undefined,
    logLevel: "log",
  },
});
await ready;
