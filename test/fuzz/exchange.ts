/** Sends inputs over sockets, several complete ones after the other on one connection, or with fetch. */
import { connect } from "node:net";
import { bytesOf, type Input, methodOf } from "./input.ts";
import { type Answer, parseResponses } from "./responses.ts";

/** A request without an answer for this long has none. */
const MAX_WAIT_MS = 10_000;
const STALL_MS = 40;
const INPUTS_PER_CONNECTION = 8;
const CONNECTIONS = 32;

export type Exchange = {
  readonly input: Input;
  /** More than one for bytes that are several requests. */
  readonly answers: readonly Answer[];
  /** What was received after the answers and is no answer, or no answer in time. */
  readonly problem?: string;
};

/** In the order of the inputs. */
export async function exchangeAll(url: URL, inputs: readonly Input[]): Promise<Exchange[]> {
  const groups = groupsOf(inputs);
  const done: Exchange[][] = groups.map(() => []);
  let next = 0;
  const work = async () => {
    for (let i = next++; i < groups.length; i = next++) {
      const group = groups[i] ?? [];
      done[i] = group[0]?.isFetch ? [await withFetch(url, group[0])] : await withConnection(url, group);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
  return done.flat();
}

/** An input that is not complete is the last one on its connection. */
function groupsOf(inputs: readonly Input[]): Input[][] {
  const groups: Input[][] = [];
  for (const input of inputs) {
    const last = groups.at(-1);
    const canJoin =
      isPlain(input) && last !== undefined && last.length < INPUTS_PER_CONNECTION && last.every(isPlain);
    if (canJoin) last.push(input);
    else groups.push([input]);
  }
  return groups;
}

/**
 * Safe methods only, as what is not answered is sent again. No body: after one that the Worker has not read,
 * workerd closes the connection.
 */
function isPlain({ ending, isFetch, body, requestLine }: Input): boolean {
  return ending === "complete" && !isFetch && body === "" && /^(?:GET|HEAD|OPTIONS) /.test(requestLine);
}

/** workerd may close a connection after any answer (RFC 9112, 9.6): the rest is sent again alone. */
async function withConnection(url: URL, group: readonly Input[]): Promise<Exchange[]> {
  const exchanges = await withSocket(url, group);
  if (group.length === 1) return exchanges;
  const again = exchanges.map((each) =>
    each.problem === undefined ? [each] : withSocket(url, [each.input]),
  );
  return (await Promise.all(again)).flat();
}

function withSocket(url: URL, group: readonly Input[]): Promise<Exchange[]> {
  return new Promise((resolve) => {
    const methods = group.map(methodOf);
    const socket = connect(Number(url.port), url.hostname);
    const received: Buffer[] = [];
    const finish = (isClosed: boolean) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(exchangesOf(group, parseResponses(Buffer.concat(received), methods, isClosed), isClosed));
    };
    const timer = setTimeout(() => finish(false), MAX_WAIT_MS);
    socket.on("error", () => {}); // "close" follows
    socket.on("close", () => finish(true));
    socket.on("data", (data) => {
      received.push(data);
      if (group.at(-1)?.ending !== "complete") return;
      // Most responses come in one piece, which makes this cheap.
      if (parseResponses(Buffer.concat(received), methods, false).answers.length >= group.length)
        finish(false);
    });
    socket.write(Buffer.concat(group.map(bytesOf)), () => endAs(group, socket));
  });
}

function endAs(group: readonly Input[], socket: ReturnType<typeof connect>): void {
  const ending = group.at(-1)?.ending;
  if (ending === "ended") socket.end();
  if (ending === "cut") socket.destroy();
  if (ending === "stalled") setTimeout(() => socket.destroy(), STALL_MS);
}

function exchangesOf(
  group: readonly Input[],
  { answers, rest }: ReturnType<typeof parseResponses>,
  isClosed: boolean,
): Exchange[] {
  const last = group.length - 1;
  return group.map((input, i) => {
    const own = i === last ? answers.slice(i) : answers.slice(i, i + 1);
    // Empty lines before a request line are skipped (RFC 9112, 2.2).
    const isLost = input.ending === "cut" || input.ending === "stalled" || input.requestLine.trim() === "";
    if (own.length === 0 && !isLost)
      return {
        input,
        answers: own,
        problem: isClosed ? "no answer before the connection was closed" : "no answer in time",
      };
    if (i === last && rest > 0 && !isLost)
      return { input, answers: own, problem: `${rest} bytes after the answer` };
    return { input, answers: own };
  });
}

async function withFetch(url: URL, input: Input): Promise<Exchange> {
  const [method = "GET", target = "/"] = input.requestLine.split(" ");
  const lines = input.headers.filter((line) => !/^(?:host|content-length):/i.test(line));
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon), line.slice(colon + 1).trim()];
  });
  const body = input.body === "" ? {} : { body: Buffer.from(input.body, "latin1") };
  const signal = AbortSignal.timeout(MAX_WAIT_MS);
  try {
    // Concatenated, so that `//x` stays a path.
    const response = await fetch(`${url.origin}${target}`, {
      method,
      headers,
      ...body,
      signal,
      redirect: "manual",
    });
    const text = await response.text();
    return { input, answers: [{ status: response.status, headers: new Map(response.headers), body: text }] };
  } catch (thrown) {
    return { input, answers: [], problem: `fetch: ${String(thrown)}` };
  }
}
