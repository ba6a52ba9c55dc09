/** Before each test file: empty storage with the migrated tables. The files share one runtime, which saves its start. */
import { applyD1Migrations, reset } from "cloudflare:test";
import { env } from "cloudflare:workers";

await reset();
await applyD1Migrations(env.DB, env.TEST_MIGRATIONS);
