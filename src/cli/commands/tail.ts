/** `tail` prints the requests of a deployment as they are answered, from `wrangler tail`. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { type Command, InvalidArgumentError } from "commander";
import { wranglerCommand } from "../../tools/wrangler.ts";
import type { RequestLine } from "../../worker/platform/log.ts";
import { CliError } from "../io.ts";
import { printable } from "../output.ts";
import { addCommand, keyId, type Session } from "../session.ts";

/** A request's line in the log, and when the line was written. */
export type LoggedRequest = RequestLine & { readonly at: string };
export type TailFilter = { readonly key?: string; readonly status?: string; readonly request?: string };

export function addTailCommand(program: Command, session: Session): void {
  const does =
    "Print the requests of a deployment that have a log line (LOG_REQUESTS) as they are answered, until Ctrl-C. wrangler has to be signed in.";
  addCommand(program, "tail", does, "tail --status 429", "tail --env staging --key acme")
    .option("--env <name>", "the environment of wrangler.toml; default: production", "")
    .option("--key <key>", "only the requests of this key")
    .option("--status <status>", "only these, as in 429 or 5xx", status)
    .option("--request <id>", "only the request with this X-Request-Id")
    .action(async ({ env, key, ...filter }: TailFilter & { env: string }) => {
      const command = wranglerCommand(["tail", "--format", "json", `--env=${env}`]);
      const id = key === undefined ? {} : { key: await keyId(session, key) };
      await follow(session, [process.execPath, ...command], { ...filter, ...id });
    });
}

function status(text: string): string {
  if (/^[1-5](\d\d|xx)$/.test(text)) return text;
  throw new InvalidArgumentError("Use a status, as in 429 or 5xx.");
}

/** Prints the program's output until the program ends. A signal to this process also ends the program. */
export async function follow(
  { io, json }: Pick<Session, "io" | "json">,
  [program = "", ...args]: readonly string[],
  filter: TailFilter,
): Promise<void> {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
  const ended = once(child, "close");
  child.stderr.pipe(io.stderr, { end: false });
  let isStopped = false;
  const stop = (signal: NodeJS.Signals) => {
    isStopped = true;
    child.kill(signal);
  };
  process.on("SIGINT", stop).on("SIGTERM", stop);
  try {
    for await (const event of jsonObjects(createInterface({ input: child.stdout }))) {
      for (const line of requestsOf(event).filter((each) => isWanted(each, filter))) {
        io.stdout.write(`${json ? JSON.stringify(line) : printable(formatRequest(line))}\n`);
      }
    }
    const [code] = await ended;
    if (code !== 0 && !isStopped) throw new CliError("wrangler tail ended: is wrangler signed in?");
  } finally {
    process.off("SIGINT", stop).off("SIGTERM", stop);
  }
}

/** wrangler prints each object over several lines. Other lines are left out. */
async function* jsonObjects(lines: AsyncIterable<string>): AsyncGenerator<unknown, void> {
  let text = "";
  for await (const line of lines) {
    if (text === "" && !line.startsWith("{")) continue;
    text += `${line}\n`;
    if (!line.startsWith("}") && !/^\{.*\}$/.test(line)) continue;
    yield JSON.parse(text);
    text = "";
  }
}

type TailEvent = { readonly logs?: readonly { readonly message: unknown; readonly timestamp: number }[] };

/** Returns the request lines in an event of `wrangler tail`. */
export function requestsOf(event: unknown): LoggedRequest[] {
  const { logs = [] } = event as TailEvent; // as Cloudflare documents it
  return logs.flatMap(({ message, timestamp }) =>
    [message]
      .flat()
      .filter((text): text is string => typeof text === "string" && text.startsWith('{"event":"request",'))
      .map((text) => ({ at: new Date(timestamp).toISOString(), ...JSON.parse(text) })),
  );
}

export function isWanted({ keyId, status, requestId }: RequestLine, filter: TailFilter): boolean {
  const isStatus =
    filter.status === undefined || new RegExp(filter.status.replace("xx", "..")).test(`${status}`);
  return isStatus && (filter.key ?? keyId) === keyId && (filter.request ?? requestId) === requestId;
}

/** Writes the time (UTC), status, request, key, duration, reason of a refusal, weight above 1, request id. */
export function formatRequest(line: LoggedRequest): string {
  const { at, status, method, route, keyId, durationMs, verdict, reason, weight, requestId } = line;
  const why = reason ?? (verdict === "admitted" ? undefined : verdict);
  const stands = weight > 1 ? `1 in ${weight}` : undefined;
  const parts = [at.slice(11, 19), status, method, route, keyId, `${durationMs} ms`, why, stands, requestId];
  return parts.filter((part) => part !== undefined).join("  ");
}
