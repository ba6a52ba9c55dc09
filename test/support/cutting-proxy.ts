/** A proxy whose connection ends before an answer: Chromium then sends the request again by itself, a POST too. */
import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import type { Service } from "./service.ts";
import { freePort } from "./start.ts";

/** Passes requests on. The connection of the first one with this method is closed after the service has answered. */
export async function openCuttingProxy(service: Service, method: string) {
  const sent: string[] = [];
  const pass = async (incoming: IncomingMessage, response: ServerResponse) => {
    const body = await buffer(incoming);
    const target = new URL(incoming.url ?? "", service.url);
    const headers = { ...incoming.headers, "content-length": body.length };
    const outgoing = request(target.href, { method: incoming.method ?? "GET", headers }).end(body);
    // The event of this name has the response.
    const [answer] = (await once(outgoing, "response")) as [IncomingMessage];
    const content = await buffer(answer);
    if (incoming.method === method) sent.push(target.pathname);
    if (incoming.method === method && sent.length === 1) return incoming.socket.destroy();
    const { "transfer-encoding": _, ...passedOn } = answer.headers;
    return response.writeHead(answer.statusCode ?? 502, passedOn).end(content);
  };
  const server = createServer((incoming, response) => void pass(incoming, response));
  const port = await freePort();
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { sent, through: { ...service, url: new URL(`http://127.0.0.1:${port}`) }, close };
}
