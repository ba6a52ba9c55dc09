/** One list, read to its end without keeping it, with the time of its first and last byte. */
import { get } from "node:http";

export type Download = {
  readonly status: number;
  readonly firstByteMs: number;
  readonly totalMs: number;
  readonly bytes: number;
  readonly etag?: string;
};

const MAX_MS = 90_000;

/** Throws when the list fails, ends early or takes too long. */
export function download(url: URL, headers: Readonly<Record<string, string>>): Promise<Download> {
  return new Promise((resolve, reject) => {
    const startMs = performance.now();
    const signal = AbortSignal.timeout(MAX_MS);
    const elapsedMs = () => performance.now() - startMs;
    const fail = (error: Error) =>
      reject(signal.aborted ? new Error(`not finished within ${MAX_MS / 1000} s`) : error);
    get(url.href, { headers, agent: false, signal }, (response) => {
      let firstByteMs: number | undefined;
      let bytes = 0;
      let end = "";
      response.on("data", (chunk: Buffer) => {
        firstByteMs ??= elapsedMs();
        bytes += chunk.length;
        end = chunk.toString("latin1", chunk.length - 1);
      });
      response.on("error", fail);
      response.on("end", () => {
        const status = response.statusCode ?? 0;
        const totalMs = elapsedMs();
        const { etag } = response.headers;
        if (status !== 304 && (status !== 200 || end !== "]"))
          reject(new Error(`status ${status}, ${bytes} bytes`));
        else
          resolve({ status, firstByteMs: firstByteMs ?? totalMs, totalMs, bytes, ...(etag ? { etag } : {}) });
      });
    }).on("error", fail);
  });
}
