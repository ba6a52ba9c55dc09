/** The release that test/release keeps: its migrations are still what they were when they were applied. */
import { createHash } from "node:crypto";
import { describe, it } from "vitest";
import { exists, readText } from "../support/sources.ts";

// `npm run keep:release` writes it.
const release = JSON.parse(readText("test/release/release.json")) as {
  commit: string;
  migrations: Record<string, string>;
};

describe("the migrations of the deployed release", () => {
  it("are unchanged: a change to the tables is a migration more", ({ expect }) => {
    const files = Object.keys(release.migrations);
    expect(files.length).toBeGreaterThan(3);
    const digests = files.map((file) => {
      const sql = exists(`migrations/${file}`) ? readText(`migrations/${file}`) : "";
      return [file, createHash("sha256").update(sql).digest("hex")];
    });
    expect(Object.fromEntries(digests)).toEqual(release.migrations);
  });

  it("belong to a commit that the fixture names", ({ expect }) => {
    expect(release.commit).toMatch(/^[0-9a-f]{7,}$/);
    expect(exists("test/release/worker.js.gz")).toBe(true);
  });
});
