/** Tools for packages look at the packed limiter: its entries resolve, and its types fit. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, it } from "vitest";
import { PROJECT, runProcess } from "../support/cli.ts";

const BIN = join(import.meta.dirname, "node_modules/.bin");
const folder = mkdtempSync(join(tmpdir(), "hono-durable-limiter-"));
let tarball: string;

beforeAll(async () => {
  const limiter = { cwd: join(PROJECT, "src/limiter") };
  const args = ["pack", "--silent", "--ignore-scripts=false", "--pack-destination", folder];
  const { out } = await runProcess("npm", args, {}, limiter);
  tarball = join(folder, out.trim().split("\n").at(-1) ?? "");
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("the packed limiter", () => {
  it.for([
    ["publint", "--strict"],
    ["attw", "--profile", "esm-only"],
  ])("has nothing that %s finds", async ([tool = "", ...args], { expect }) => {
    const { code, out, err } = await runProcess(join(BIN, tool), [tarball, ...args]);
    expect(code, out + err).toBe(0);
  });
});
