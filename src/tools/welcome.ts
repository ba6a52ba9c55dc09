/** The text that `npm start` prints once the service is running. */
import { DEV_VARS } from "../local/token.ts";
import { DEFAULT_PORT } from "../local/wrangler.ts";
import type { DemoKey } from "./seed.ts";

/** `keys` are the demo keys that this start created. `problems` are sentences about wrong settings. */
export function welcome(
  baseUrl: string,
  varsFile: string,
  keys: readonly DemoKey[],
  problems: readonly string[],
  isOpen: boolean,
): string {
  const [first] = keys;
  const data = first
    ? [
        "250 demo orders are loaded. The demo keys, shown only now:",
        "",
        ...keys.map(
          ({ name, key, limits }) =>
            `  ${name.padEnd(16)} ${key}   ${limits.requestsPerMinute} a minute, ${limits.requestsPerDay} a day`,
        ),
        "",
        "List the orders, in a second terminal:",
        "",
        `  export KEY=${first.key}`,
        `  curl -i -H "Authorization: Bearer $KEY" ${baseUrl}/v1/store/orders`,
      ]
    : ["The data of the last run is kept. Its keys were shown when they were created."];
  const isDefault = baseUrl === `http://localhost:${DEFAULT_PORT}`;
  // The command reads the token from the project's own file.
  const token = varsFile === DEV_VARS ? "" : "ADMIN_TOKEN=… ";
  return [
    "",
    `Store Orders is running: ${baseUrl}/v1`,
    `Documentation:           ${baseUrl}/docs`,
    `Console:                 ${baseUrl}/console`,
    `Admin token:             in ${varsFile}`,
    ...(isOpen ? ["Every machine that reaches this one can call it, over plain HTTP."] : []),
    "",
    ...(problems.length > 0 ? ["Settings that are wrong, and off:", ""] : []),
    ...problems.map((each) => `  ${each}`),
    ...(problems.length > 0 ? [""] : []),
    ...data,
    "",
    "Create a key of your own, or a new secret for a demo key, in a second terminal:",
    "",
    ...(isDefault ? [] : [`  export ADMIN_URL=${baseUrl}`]),
    `  ${token}./store-orders keys create --name mine --plan free`,
    `  ${token}./store-orders keys rotate "demo free"`,
    "",
    "Ctrl-C stops it.",
    "",
    "",
  ].join("\n");
}
