/** `npm start` waits here until the service that it has started answers. */
import type { AdminClient } from "../cli/admin-client.ts";
import { StartError } from "./start-error.ts";
import type { Wrangler } from "./wrangler.ts";

/** The service is ready within some 5 s on two cores. A slow machine may take a minute. */
const MAX_START_MS = 60_000;

/** Sends the token only once the service has the port, which another program may have taken meanwhile. */
export async function untilReady(wrangler: Wrangler, client: AdminClient, varsFile: string): Promise<void> {
  let isListening = false;
  wrangler.child.once("message", () => {
    isListening = true;
  });
  let hasExited = false;
  void wrangler.exited.then(() => {
    hasExited = true;
  });
  for (const deadlineMs = Date.now() + MAX_START_MS; Date.now() < deadlineMs && !hasExited; ) {
    const response = isListening ? await client.plans.$get().catch(() => undefined) : undefined;
    if (response?.ok) return;
    if (response !== undefined) requireSameToken(response.status, varsFile);
    await new Promise((done) => setTimeout(done, 100));
  }
  throw new StartError(`The service did not start.\n\n${wrangler.output().trim()}`);
}

/** The service has the token that wrangler reads. Without one that is usable, it answers 404. */
function requireSameToken(status: number, varsFile: string): void {
  if (status !== 401 && status !== 404) return;
  throw new StartError(
    `The service does not accept the ADMIN_TOKEN in ${varsFile} (${status}): wrangler reads another one. Remove the line, and npm start makes a new one.`,
  );
}
