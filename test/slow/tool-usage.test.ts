/** What the engineers' tools print for `--help`, and for what they do not know. */
import { describe, it } from "vitest";
import { runProcess } from "../support/cli.ts";

const TOOLS = ["bench", "check:bundle", "keep:release", "sbom", "test:faults", "test:fuzz"] as const;

for (const tool of TOOLS)
  describe(`npm run ${tool}`, () => {
    const run = (argument: string) => runProcess("npm", ["run", "-s", tool, "--", argument], {});

    it("explains itself with --help", async ({ expect }) => {
      const { code, out, err } = await run("--help");
      expect([code, err]).toEqual([0, ""]);
      expect(out).toMatch(new RegExp(`^Usage: npm run (-s )?${tool} .*\\n\\n\\w`));
    });

    for (const argument of ["--colour", "word"])
      it(`ends with exit code 2 and does nothing: ${argument}`, async ({ expect }) => {
        const { code, out, err } = await run(argument);
        expect([code, out]).toEqual([2, ""]);
        expect(err).toMatch(/^error: (unknown option '--colour'|too many arguments)/);
      });
  });
