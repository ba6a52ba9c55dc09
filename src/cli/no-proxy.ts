/** Loopback addresses are reached without a proxy. With NODE_USE_ENV_PROXY, Node would send them, and the admin token, to HTTP_PROXY. */

/** The command line sends the token by http to these hosts only. A proxy can get what is for the others of 127.0.0.0/8. */
export const LOOPBACK_HOSTS = ["localhost", "127.0.0.1", "[::1]"];

/** Node reads the variable at each request, and child processes inherit it. Node prefers the lower-case name. */
export function reachLoopbackDirectly(env: NodeJS.ProcessEnv): void {
  const name = env.no_proxy === undefined ? "NO_PROXY" : "no_proxy";
  const hosts = env[name]?.trim();
  if (hosts === "*") return; // it means all hosts only while it stands alone
  env[name] = [...(hosts ? [hosts] : []), ...LOOPBACK_HOSTS].join(",");
}
