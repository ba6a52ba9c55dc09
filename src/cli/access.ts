/** The address of the service and the credentials for its admin API, from `--url` and the environment. */
import { userInfo } from "node:os";
import { DEV_VARS, readAdminToken } from "../local/token.ts";
import { CliError } from "./io.ts";

export type Access = {
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Where the token was read. Undefined: from the variable. */
  readonly tokenFile: string | undefined;
};

type Env = Readonly<Record<string, string | undefined>>;

const LOCAL_URL = "http://localhost:8787";

/** `ifVersion` is the version that a change expects. */
export function accessFor(url: string | undefined, env: Env, ifVersion?: number): Access {
  const baseUrl = originOf(url ?? (env.ADMIN_URL || LOCAL_URL));
  if (baseUrl.startsWith("http:") && !isLocal(baseUrl)) {
    throw new CliError(`${baseUrl} would receive the admin token unencrypted: use https.`);
  }
  const named = given(env, "ADMIN_TOKEN");
  const token = named ?? (isLocal(baseUrl) ? readAdminToken(DEV_VARS) : undefined);
  const credentials = { ...(token && { Authorization: `Bearer ${token}` }), ...cloudflareAccessHeaders(env) };
  if (Object.keys(credentials).length === 0) {
    const hint = isLocal(baseUrl) ? ", or run npm start once, which makes one" : "";
    throw new CliError(`There is no admin token for ${baseUrl}: set ADMIN_TOKEN${hint}.`);
  }
  const precondition = ifVersion === undefined ? {} : { "If-Match": `"${ifVersion}"` };
  const headers = { "X-Operator": operatorName(env), ...credentials, ...precondition };
  return { baseUrl, headers, tokenFile: named === undefined ? DEV_VARS : undefined };
}

export function isLocal(baseUrl: string): boolean {
  return ["localhost", "127.0.0.1", "[::1]"].includes(new URL(baseUrl).hostname);
}

/** The message does not repeat the address, because the address can have a password. */
function originOf(address: string): string {
  const url = URL.parse(address);
  if (url !== null && /^https?:$/.test(url.protocol)) return url.origin;
  throw new CliError("The address, from --url or ADMIN_URL, is not an http or https address.");
}

/** See https://developers.cloudflare.com/cloudflare-one/identity/service-tokens/. */
function cloudflareAccessHeaders(env: Env): Record<string, string> {
  const id = given(env, "CF_ACCESS_CLIENT_ID");
  const secret = given(env, "CF_ACCESS_CLIENT_SECRET");
  const token = given(env, "CF_ACCESS_TOKEN");
  if ((id === undefined) !== (secret === undefined)) {
    throw new CliError("Set both CF_ACCESS_CLIENT_ID and CF_ACCESS_CLIENT_SECRET, or none of them.");
  }
  const pair = id && secret ? { "CF-Access-Client-Id": id, "CF-Access-Client-Secret": secret } : {};
  return { ...pair, ...(token && { "CF-Access-Token": token }) };
}

/** Checks the value here, because fetch's own error for an invalid header repeats the value. */
function given(env: Env, name: string): string | undefined {
  const value = env[name]?.trim() || undefined;
  if (value === undefined || /^[\x21-\x7e]+$/.test(value)) return value;
  throw new CliError(`${name} has characters that a token cannot have.`);
}

/** The operator's name in the audit log: an account can be shared, and a container has root. */
function operatorName(env: Env): string {
  try {
    // RFC 8187 writes any text in ASCII, and a header must be ASCII.
    return `UTF-8''${encodeURIComponent(env.STORE_ORDERS_OPERATOR?.trim() || userInfo().username)}`;
  } catch {
    return "operator"; // a container may run as a user without a name
  }
}
