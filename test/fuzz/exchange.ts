/** Sends inputs over sockets, each on a connection of its own. */
import { connect } from "node:net";
import { bytesOf, type Input, methodOf } from "./input.ts";
import { type Answer, parseResponses } from "./responses.ts";

/** A request without an answer for this long has none. */
const MAX_WAIT_MS = 10_000;
const STALL_MS = 40;
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
  const done: Exchange[] = [];
  const left = inputs.entries();
  const work = async () => {
    for (const [i, input] of left) done[i] = await exchange(url, input);
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
  return done;
}

function exchange(url: URL, input: Input): Promise<Exchange> {
  return new Promise((resolve) => {
    const { ending } = input;
    const socket = connect(Number(url.port), url.hostname);
    const received: Buffer[] = [];
    const parse = (isClosed: boolean) => parseResponses(Buffer.concat(received), [methodOf(input)], isClosed);
    const finish = (isClosed: boolean) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(exchangeOf(input, parse(isClosed), isClosed));
    };
    const timer = setTimeout(() => finish(false), MAX_WAIT_MS);
    socket.on("error", () => {}); // "close" follows
    socket.on("close", () => finish(true));
    socket.on("data", (data) => {
      received.push(data);
      if (ending === "complete" && parse(false).answers.length > 0) finish(false);
    });
    socket.write(bytesOf(input), () => {
      if (ending === "ended") socket.end();
      if (ending === "cut") socket.destroy();
      if (ending === "stalled") setTimeout(() => socket.destroy(), STALL_MS);
    });
  });
}

function exchangeOf(
  input: Input,
  { answers, rest }: ReturnType<typeof parseResponses>,
  isClosed: boolean,
): Exchange {
  // Empty lines before a request line are skipped (RFC 9112, 2.2).
  const isLost = input.ending === "cut" || input.ending === "stalled" || input.requestLine.trim() === "";
  if (isLost || (answers.length > 0 && rest === 0)) return { input, answers };
  const missing = isClosed ? "no answer before the connection was closed" : "no answer in time";
  return { input, answers, problem: answers.length === 0 ? missing : `${rest} bytes after the answer` };
}
