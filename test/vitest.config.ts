/** Three kinds of test: pure functions in Node, everything that needs the platform in workerd, and black-box over HTTP. */
import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";

const root = new URL("..", import.meta.url).pathname;

export default defineConfig({
  test: {
    root,
    // Half of the cores is the default: on two, tests that mostly wait would wait one after the other.
    maxWorkers: 2,
    projects: [
      {
        test: { name: "unit", root, include: ["test/unit/**/*.test.ts"], environment: "node" },
      },
      {
        plugins: [
          cloudflareTest({
            wrangler: { configPath: `${root}wrangler.toml` },
            remoteBindings: false,
            miniflare: {
              bindings: {
                TEST_MIGRATIONS: await readD1Migrations(`${root}migrations`),
                ADMIN_TOKEN: "an-admin-token-for-the-tests-only",
              },
            },
          }),
        ],
        test: {
          name: "worker",
          root,
          include: ["test/worker/**/*.test.ts"],
          setupFiles: [`${root}test/support/apply-migrations.ts`],
          testTimeout: 30_000,
        },
      },
      {
        test: {
          name: "e2e",
          root,
          include: ["test/e2e/**/*.test.ts"],
          environment: "node",
          testTimeout: 30_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
