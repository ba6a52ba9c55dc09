/**
 * Requests over connections that stay open, each sent after the answer before. `fetch` takes as much CPU time
 * as the service, and would hide on two cores how many requests the service answers.
 */
import { connect, type Socket } from "node:net";
import type { RequestSpec } from "./load.ts";

export type Answered = { readonly latenciesMs: readonly number[]; readonly durationMs: number };

/** `pauseMs`: how long each connection pauses at most before a request, at random. */
export async function askOver(
  connections: number,
  url: URL,
  { path, headers }: RequestSpec,
  { requests, status, pauseMs = 0 }: { requests: number; status: number; pauseMs?: number },
): Promise<Answered> {
  const lines = Object.entries({ Host: url.host, ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  const text = `GET ${path} HTTP/1.1\r\n${lines.join("")}\r\n`;
  const latenciesMs: number[] = [];
  let left = requests;
  const startMs = performance.now();
  const askInTurn = async () => {
    const socket = connect(Number(url.port), url.hostname);
    try {
      while (left-- > 0) {
        if (pauseMs > 0) await new Promise((done) => setTimeout(done, Math.random() * pauseMs));
        const sentAtMs = performance.now();
        socket.write(text);
        const answered = await statusOf(socket);
        if (answered !== status) throw new Error(`${path} answered ${answered}, not ${status}`);
        latenciesMs.push(performance.now() - sentAtMs);
      }
    } finally {
      socket.destroy();
    }
  };
  await Promise.all(Array.from({ length: connections }, askInTurn));
  return { latenciesMs, durationMs: performance.now() - startMs };
}

/** The status of the next answer, once its body is read. It has a Content-Length. */
function statusOf(socket: Socket): Promise<number> {
  return new Promise((resolve, reject) => {
    let text = "";
    const read = (part: Buffer) => {
      text += part.toString("latin1");
      const end = text.indexOf("\r\n\r\n");
      if (end < 0) return;
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1]);
      if (text.length < end + 4 + length) return;
      stop();
      resolve(Number(text.slice(9, 12)));
    };
    const fail = () => {
      stop();
      reject(new Error("the connection was closed"));
    };
    const stop = () => socket.off("data", read).off("close", fail).off("error", fail);
    socket.on("data", read).on("close", fail).on("error", fail);
  });
}
