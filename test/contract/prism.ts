/**
 * Validates recorded exchanges with Prism's validation proxy, whose upstream replays them: status, headers and body of
 * every response, and the request unless it has no valid key. Prism reads integers with 53 bits only; other tests
 * compare the digits of larger ones.
 */
import { createServer as createUpstream, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createLogger } from "@stoplight/prism-core";
import { getHttpOperationsFromSpec } from "@stoplight/prism-http";
import { createServer as createPrism } from "@stoplight/prism-http-server";
import type { Exchange } from "./traffic.ts";

export type ValidationResult = { readonly exchange: Exchange; readonly violations: readonly string[] };

/** A request without a valid key is not validated; its response is. */
function hasValidKey({ status }: Exchange): boolean {
  return status !== 401;
}

export async function validate(
  document: object,
  exchanges: readonly Exchange[],
): Promise<ValidationResult[]> {
  const upstream = createUpstream((request, response) => replay(exchanges, request, response));
  await new Promise<void>((done) => upstream.listen(0, "127.0.0.1", done));
  // A server that listens on a port has an address of this type.
  const { port } = upstream.address() as AddressInfo;
  const operations = await getHttpOperationsFromSpec(document);
  const proxies = [false, true].map((validatesRequests) =>
    createPrism(operations, {
      components: { logger: createLogger("prism", { level: "silent" }) },
      cors: false,
      config: {
        isProxy: true,
        upstream: new URL(`http://127.0.0.1:${port}`),
        upstreamProxy: undefined,
        checkSecurity: validatesRequests,
        validateRequest: validatesRequests,
        validateResponse: true,
        errors: true,
        mock: { dynamic: false },
      },
    }),
  );
  try {
    const addresses = await Promise.all(proxies.map((proxy) => proxy.listen(0, "127.0.0.1")));
    const [lenient = "", strict = ""] = addresses;
    return await Promise.all(
      exchanges.map((exchange, index) =>
        validateExchange(hasValidKey(exchange) ? strict : lenient, exchange, index),
      ),
    );
  } finally {
    await Promise.all(proxies.map((proxy) => proxy.close()));
    upstream.close();
  }
}

async function validateExchange(proxy: string, exchange: Exchange, index: number): Promise<ValidationResult> {
  const response = await fetch(new URL(exchange.address, proxy), {
    method: exchange.method.toUpperCase(),
    headers: { ...exchange.headers, "X-Exchange": String(index) },
  });
  const text = await response.text();
  const warnings = response.headers.get("sl-violations");
  const violations = [
    ...(response.status === exchange.status
      ? []
      : [`${response.status} instead of ${exchange.status}: ${text}`]),
    ...(warnings === null ? [] : [warnings]),
  ];
  return { exchange, violations };
}

/** Headers of one connection, or of an encoding that is already decoded. */
const NOT_REPLAYED = ["transfer-encoding", "content-encoding", "content-length", "connection", "keep-alive"];

function replay(exchanges: readonly Exchange[], request: IncomingMessage, response: ServerResponse): void {
  const exchange = exchanges[Number(request.headers["x-exchange"])];
  if (!exchange) throw new Error("the request has no recorded exchange");
  const headers = Object.entries(exchange.responseHeaders).filter(([name]) => !NOT_REPLAYED.includes(name));
  response.writeHead(exchange.status, Object.fromEntries(headers));
  response.end(exchange.body);
}
