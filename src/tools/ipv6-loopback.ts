/** Listens on [::1] beside the dev server, which listens on 127.0.0.1 only, and forwards connections to it. */
import { connect, createServer, type Server } from "node:net";
import { pipeline } from "node:stream";

/**
 * A browser tries ::1 first for `localhost`. On a port there that is free, another user of the machine could listen, and get the
 * admin token that an operator types into what looks like the console. Undefined on a machine without IPv6.
 */
export function forwardIpv6Loopback(port: number): Promise<Server | undefined> {
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const service = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    // An error on one side closes the other one.
    pipeline(client, service, () => {});
    pipeline(service, client, () => {});
  });
  return new Promise((done, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EADDRNOTAVAIL" || error.code === "EAFNOSUPPORT") done(undefined);
      else reject(error);
    });
    server.listen({ port, host: "::1" }, () => done(server));
  });
}
