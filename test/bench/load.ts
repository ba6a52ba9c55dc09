/** A bounded number of requests over a bounded number of connections to this machine. */
import { Agent, request } from "node:http";

export const CONNECTIONS = 20;

export type Shot = {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly status: number;
};

/** Sends `count` requests and returns how many a second were answered. Throws on any status but the expected. */
export async function fire(url: URL, shot: Shot, count: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  let left = count;
  const lane = async () => {
    while (left-- > 0) {
      const { status } = await send(url, shot, agent);
      if (status !== shot.status) throw new Error(`${shot.path} answered ${status}, not ${shot.status}`);
    }
  };
  const startMs = performance.now();
  try {
    await Promise.all(Array.from({ length: CONNECTIONS }, lane));
  } finally {
    agent.destroy();
  }
  return count / ((performance.now() - startMs) / 1000);
}

export function send(
  url: URL,
  shot: Pick<Shot, "path" | "headers">,
  agent?: Agent,
): Promise<{ status: number; etag: string; body: string }> {
  return new Promise((resolve, reject) => {
    const options = { headers: shot.headers, ...(agent ? { agent } : {}) };
    const outgoing = request(new URL(shot.path, url).href, options, (response) => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        body += chunk;
      });
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, etag: response.headers.etag ?? "", body }),
      );
      response.on("error", reject);
    });
    outgoing.on("error", reject);
    outgoing.end();
  });
}
