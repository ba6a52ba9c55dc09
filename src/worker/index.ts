/** The entry point of the Worker. */
import { createApp } from "./app.ts";
import type { Bindings } from "./context.ts";

export { KeyLimiter } from "./limiter/key-limiter.ts";

const app = createApp();

export default { fetch: app.fetch } satisfies ExportedHandler<Bindings>;
