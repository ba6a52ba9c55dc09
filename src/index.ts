/** The Worker's entry. */
import { createApp } from "./app.ts";
import type { Bindings } from "./env.ts";

export { KeyLimiter } from "./limits/key-limiter.ts";

const app = createApp();

export default { fetch: app.fetch } satisfies ExportedHandler<Bindings>;
