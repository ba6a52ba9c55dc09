/** The credentials of a run: the admin token, and what Cloudflare Access in front of the service asks for. */
import { AdminFailure } from "./admin-client.ts";
import { readAdminToken } from "./dev-vars.ts";

type Env = Readonly<Record<string, string | undefined>>;

export type Credentials = {
  readonly token: string | undefined;
  readonly accessHeaders: Readonly<Record<string, string>>;
};

/** Behind Access, a service token or a person's own token is enough. Only the local instance has a file of secrets. */
export function credentialsFor(baseUrl: string, file: string | undefined, env: Env): Credentials {
  const accessHeaders = accessHeadersIn(env);
  const token = given(env, "ADMIN_TOKEN") ?? (file === undefined ? undefined : tokenIn(file));
  if (token !== undefined || Object.keys(accessHeaders).length > 0) return { token, accessHeaders };
  throw new AdminFailure(
    file === undefined
      ? `There is no admin token for ${baseUrl}: set ADMIN_TOKEN.`
      : "There is no admin token: set ADMIN_TOKEN, or run npm start once, which makes one.",
  );
}

/** https://developers.cloudflare.com/cloudflare-one/identity/service-tokens/ */
function accessHeadersIn(env: Env): Record<string, string> {
  const clientId = given(env, "CF_ACCESS_CLIENT_ID");
  const clientSecret = given(env, "CF_ACCESS_CLIENT_SECRET");
  const userToken = given(env, "CF_ACCESS_TOKEN");
  if ((clientId === undefined) !== (clientSecret === undefined)) {
    throw new AdminFailure("Set both CF_ACCESS_CLIENT_ID and CF_ACCESS_CLIENT_SECRET, or none of them.");
  }
  return {
    ...(clientId === undefined || clientSecret === undefined
      ? {}
      : { "CF-Access-Client-Id": clientId, "CF-Access-Client-Secret": clientSecret }),
    ...(userToken === undefined ? {} : { "CF-Access-Token": userToken }),
  };
}

function tokenIn(file: string): string | undefined {
  return checked(readFile(file), `ADMIN_TOKEN in ${file}`);
}

/** It can be another user's, or a folder, which Docker makes of a file to mount that is missing. */
function readFile(file: string): string | undefined {
  try {
    return readAdminToken(file);
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    throw new AdminFailure(`The file of secrets ${file} cannot be read: ${reason}. Set ADMIN_TOKEN instead.`);
  }
}

function given(env: Env, name: string): string | undefined {
  return checked(env[name]?.trim() || undefined, name);
}

/** Checked here, because fetch's own error for an invalid header repeats the value. */
function checked(value: string | undefined, name: string): string | undefined {
  if (value === undefined || /^[\x21-\x7e]+$/.test(value)) return value;
  throw new AdminFailure(`${name} has characters that a token cannot have.`);
}
