/** Sends requests to the bench service, over a fixed number of connections. */
import { Agent, request } from "node:http";

export const CONNECTIONS = 20;

export type RequestSpec = {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly status: number;
};

/** Sends `count` requests and returns the rate per second. Throws on an unexpected status. */
export async function sendMany(url: URL, spec: RequestSpec, count: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  let left = count;
  const sendInTurn = async () => {
    while (left-- > 0) {
      const { status } = await send(url, spec, agent);
      if (status !== spec.status) throw new Error(`${spec.path} answered ${status}, not ${spec.status}`);
    }
  };
  const startMs = performance.now();
  try {
    await Promise.all(Array.from({ length: CONNECTIONS }, sendInTurn));
  } finally {
    agent.destroy();
  }
  return count / ((performance.now() - startMs) / 1000);
}

export function send(
  url: URL,
  spec: Pick<RequestSpec, "path" | "headers">,
  agent?: Agent,
): Promise<{ status: number; etag: string; body: string }> {
  return new Promise((resolve, reject) => {
    const options = { headers: spec.headers, ...(agent ? { agent } : {}) };
    const outgoing = request(new URL(spec.path, url).href, options, (response) => {
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
