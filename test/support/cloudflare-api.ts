/**
 * A fake of Cloudflare's API on loopback, as far as wrangler uses it for one account. It records every request. What an
 * account answers is in cloudflare-account.ts.
 */
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { CloudflareAccount, failure } from "./cloudflare-account.ts";

const ACCOUNT_ID = "0123456789abcdef0123456789abcdef";
const API_TOKEN = "a-token-for-the-fake-account-only";

export type ApiRequest = {
  /** `POST /d1/database`: the path is relative to the account's. */
  readonly line: string;
  // Bodies differ from request to request: JSON, or the `metadata` of an upload. Each test checks the shape that it expects.
  readonly body: Record<string, unknown>;
};

export class CloudflareApi {
  readonly account = new CloudflareAccount();
  /** Requests that the account does not know, which were answered 404. */
  readonly unknown: string[] = [];
  readonly #requests: ApiRequest[] = [];
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  #url = "";

  async start(): Promise<void> {
    this.#server.on("upgrade", (request, socket) => acceptTail(request, socket, this.account.tailMessage));
    // As a proxy for all other hosts, it sees what is sent elsewhere.
    this.#server.on("connect", (request, socket) => {
      this.unknown.push(`CONNECT ${request.url}`);
      socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
    });
    await new Promise<void>((done) => this.#server.listen(0, "127.0.0.1", done));
    // A server that listens on a port has an AddressInfo.
    this.#url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }

  /** The environment in which wrangler uses this account. What it would send elsewhere comes here, too. */
  get env(): Record<string, string> {
    return {
      https_proxy: this.#url,
      http_proxy: this.#url,
      no_proxy: "127.0.0.1",
      CLOUDFLARE_API_BASE_URL: `${this.#url}/client/v4`,
      CLOUDFLARE_ACCOUNT_ID: ACCOUNT_ID,
      CLOUDFLARE_API_TOKEN: API_TOKEN,
      CLOUDFLARE_CF_FETCH_ENABLED: "false",
      WRANGLER_SEND_METRICS: "false",
      WRANGLER_SEND_ERROR_REPORTS: "false",
      WRANGLER_HIDE_BANNER: "true", // the banner looks for a newer version
      WRANGLER_NO_SKILLS_UPDATE_PROMPTS: "true",
      CI: "true",
    };
  }

  /** The requests since the last call. */
  take(): ApiRequest[] {
    return this.#requests.splice(0);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, search } = new URL(request.url ?? "", this.#url);
    const path = pathname.replace(/^\/client\/v4(\/accounts\/[0-9a-f]{32})?/, "");
    const line = `${request.method} ${path}${search}`;
    const body = await bodyOf(request);
    this.#requests.push({ line, body });
    // Assets are uploaded with the token of their upload session.
    const tokens = [`Bearer ${API_TOKEN}`, "Bearer assets"];
    const isAuthorized = tokens.includes(request.headers.authorization ?? "") || path.startsWith("/signed/");
    const answer = isAuthorized
      ? this.account.answer(line, body, this.#url)
      : failure(401, 10_000, "Authentication error");
    if (answer === undefined) this.unknown.push(line);
    const { status = 200, result = null, errors = [] } = answer ?? failure(404, 10_007, "not found");
    response.writeHead(status, { "Content-Type": "application/json" });
    response.end(JSON.stringify({ success: errors.length === 0, errors, messages: [], result }));
  }
}

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  const type = request.headers["content-type"] ?? "";
  if (bytes.length === 0 || request.url?.includes("/assets/upload?")) return {};
  if (!type.startsWith("multipart/form-data")) return JSON.parse(bytes.toString());
  const form = await new Response(bytes, { headers: { "Content-Type": type } }).formData();
  return JSON.parse(String(form.get("metadata")));
}

/** Opens the WebSocket of a tail (RFC 6455), and sends one message of up to 64 KiB. */
function acceptTail(request: IncomingMessage, socket: Duplex, message: string): void {
  const key = `${request.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
  const accept = createHash("sha1").update(key).digest("base64");
  const headers = `Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n`;
  socket.write(`HTTP/1.1 101 Switching Protocols\r\n${headers}Sec-WebSocket-Protocol: trace-v1\r\n\r\n`);
  const payload = Buffer.from(message);
  socket.write(Buffer.concat([Buffer.from([0x81, 126, payload.length >> 8, payload.length & 255]), payload]));
  socket.on("data", () => {}).on("end", () => socket.destroy());
  socket.on("error", () => {}); // the client may reset the connection
}
