/** Connections to [::1] reach what listens on the same port of 127.0.0.1. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, it } from "vitest";
import { forwardIpv6Loopback } from "../../../src/tools/ipv6-loopback.ts";
import { hasIpv6 } from "../../support/start.ts";

describe.runIf(hasIpv6())("the listener on [::1]", () => {
  let port: number;
  let service: Server;
  let forwarder: Server | undefined;

  beforeAll(async () => {
    // Answers what it was sent once the client has sent everything.
    service = createServer({ allowHalfOpen: true }, (socket) => {
      let received = "";
      socket.on("data", (data) => {
        received += data.toString();
      });
      socket.on("end", () => socket.end(`received: ${received}`));
      socket.on("error", () => {});
    });
    await once(service.listen(0, "127.0.0.1"), "listening");
    ({ port } = service.address() as AddressInfo); // a server on a port, not on a pipe
    forwarder = await forwardIpv6Loopback(port);
  });
  afterAll(() => {
    service.close();
    forwarder?.close();
  });

  it("forwards both ways, also after the client has ended its side", async ({ expect }) => {
    const client = connect({ port, host: "::1", allowHalfOpen: true });
    client.end("x".repeat(500_000));
    expect(await text(client)).toBe(`received: ${"x".repeat(500_000)}`);
  });

  it("closes the connection to the service when the client aborts", async ({ expect }) => {
    const client = connect({ port, host: "::1" });
    client.write("x");
    const [socket] = await once(service, "connection");
    client.resetAndDestroy();
    await new Promise((done) => socket.once("close", done));
    expect(socket.destroyed).toBe(true);
  });

  it("closes the client's connection when nothing listens on 127.0.0.1", async ({ expect }) => {
    const other = createServer();
    await once(other.listen(0, "127.0.0.1"), "listening");
    const free = (other.address() as AddressInfo).port; // as above
    other.close();
    const lone = await forwardIpv6Loopback(free);
    const client = connect({ port: free, host: "::1" });
    client.on("error", () => {});
    await once(client, "close");
    lone?.close();
    expect(client.destroyed).toBe(true);
  });

  it("is refused on a port that another program has", async ({ expect }) => {
    await expect(forwardIpv6Loopback(port)).rejects.toThrow("EADDRINUSE");
  });
});
