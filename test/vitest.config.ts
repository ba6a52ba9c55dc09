/** Tests in Node, in workerd and over HTTP, and the slow and deep tests, which `npm test` leaves out. */
import { join } from "node:path";
import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";
import { publishedConfigurationFile } from "./support/configuration.ts";

const root = join(import.meta.dirname, "..");
const deep = join(root, "test/support/deep.ts");

export default defineConfig({
  test: {
    root,
    provide: { deep: process.env.DEEP === "1" },
    silent: "passed-only",
    // Each worker of a project starts a runtime or a service of its own, which costs more than it saves on two cores.
    maxWorkers: 2,
    projects: [
      {
        resolve: { alias: { "cloudflare:workers": join(root, "test/support/cloudflare-workers.ts") } },
        test: {
          name: "unit",
          // Threads start with less work than processes.
          pool: "threads",
          isolate: false,
          root,
          include: ["{test,src/limiter/test}/unit/**/*.test.ts"],
          globalSetup: [join(root, "test/support/build-pages.ts")],
          setupFiles: [deep],
          environment: "node",
          // The property tests take 2 s, and on loaded cores several times as long.
          testTimeout: 60_000,
        },
      },
      {
        plugins: [
          cloudflareTest({
            wrangler: { configPath: publishedConfigurationFile(), environment: "" },
            remoteBindings: false,
            miniflare: {
              // For test/worker/db/schema-number.test.ts.
              d1Databases: ["DB_OF_ANOTHER_VERSION"],
              bindings: {
                TEST_MIGRATIONS: await readD1Migrations(join(root, "migrations")),
                ADMIN_TOKEN: "an-admin-token-for-the-tests-only",
              },
            },
          }),
        ],
        test: {
          name: "worker",
          root,
          include: ["test/worker/**/*.test.ts"],
          globalSetup: [join(root, "test/support/build-pages.ts")],
          setupFiles: ["apply-migrations.ts", "deep.ts", "each-worker-test.ts"].map((name) =>
            join(root, "test/support", name),
          ),
          // Test files in one process share one runtime. Its storage is emptied before each file.
          isolate: false,
          testTimeout: 60_000,
        },
      },
      {
        // The package by itself: a Worker that is not the service.
        plugins: [
          cloudflareTest({
            main: join(root, "src/limiter/test/worker/worker.ts"),
            remoteBindings: false,
            miniflare: {
              compatibilityDate: "2026-11-01",
              durableObjects: {
                RATE_LIMITER: { className: "RateLimiter", useSQLite: true },
                REPORTING: { className: "ReportingLimiter", useSQLite: true },
                KEEPING: { className: "KeepingLimiter", useSQLite: true },
                EARLIER: { className: "EarlierLimiter", useSQLite: true },
                WRONG: { className: "WrongLimiter", useSQLite: true },
              },
            },
          }),
        ],
        test: {
          name: "limiter",
          root,
          include: ["src/limiter/test/worker/*.test.ts"],
          testTimeout: 30_000,
        },
      },
      {
        test: {
          name: "e2e",
          root,
          include: ["test/{e2e,http}/**/*.test.ts"],
          globalSetup: [join(root, "test/support/build-pages.ts")],
          setupFiles: [join(root, "test/support/check-log.ts")],
          environment: "node",
          // Test files in one process share one service, which takes 2 s to start.
          isolate: false,
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: "slow",
          root,
          include: ["{test,src/limiter/test}/slow/**/*.test.ts"],
          globalSetup: [join(root, "test/support/build-pages.ts")],
          environment: "node",
          // Each has a service or a browser of its own. Projects whose numbers differ need an order.
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
          testTimeout: 120_000,
          hookTimeout: 150_000,
        },
      },
      {
        test: {
          name: "deep",
          root,
          include: ["test/deep/**/*.test.ts"],
          globalSetup: [join(root, "test/support/build-pages.ts")],
          environment: "node",
          // They measure memory.
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
          testTimeout: 300_000,
          hookTimeout: 150_000,
        },
      },
    ],
  },
});
