/** The proxies of the environment, as curl and npm use them. Node uses them only with NODE_USE_ENV_PROXY. */
import http from "node:http";

type Env = Readonly<Record<string, string | undefined>>;

/** The token of the local service is sent unencrypted, so no proxy gets it. */
const NEVER = "localhost,127.0.0.1,::1";

export function useProxies(env: Env): void {
  const find = (name: string) => env[name.toLowerCase()] ?? env[name];
  const proxyOf = (name: string) => {
    const address = find(name) ?? "";
    // curl takes proxy.example:3128, too.
    return address === "" || address.includes("://") ? address : `http://${address}`;
  };
  const not = [find("NO_PROXY"), NEVER].filter(Boolean).join();
  try {
    // Node has this function from 24.14 on.
    http.setGlobalProxyFromEnv?.({
      HTTP_PROXY: proxyOf("HTTP_PROXY"),
      HTTPS_PROXY: proxyOf("HTTPS_PROXY"),
      NO_PROXY: not,
    });
  } catch {
    console.error(
      "error: HTTPS_PROXY or HTTP_PROXY is not the address of a proxy, such as http://proxy.example:3128.",
    );
    process.exit(2);
  }
}
