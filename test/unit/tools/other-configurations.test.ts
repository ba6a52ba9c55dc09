/** The files that wrangler would prefer to wrangler.toml, and that each call of wrangler names wrangler.toml. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "vitest";
import { otherConfigurations } from "../../../src/tools/other-configurations.ts";
import { CONFIGURATION, PROJECT_FOLDER, wranglerProgram } from "../../../src/tools/wrangler.ts";
import { temporaryFolder } from "../../support/cli.ts";
import { filesUnder, readText } from "../../support/sources.ts";

const folder = temporaryFolder();
const project = join(folder, "a", "b");

describe("otherConfigurations", () => {
  it("finds what wrangler prefers, in the folder and above, and no wrangler.toml", ({ expect }) => {
    const files = [
      join(project, ".wrangler", "deploy", "config.json"),
      join(folder, "a", "wrangler.jsonc"),
      join(folder, "wrangler.json"),
    ];
    for (const file of [...files, join(project, "wrangler.toml"), join(folder, "wrangler.toml")]) {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, "");
    }
    expect(otherConfigurations(project).filter((file) => file.startsWith(folder))).toEqual(files);
    expect(otherConfigurations(folder).filter((file) => file.startsWith(folder))).toEqual(files.slice(2));
  });
});

describe("each call of wrangler", () => {
  it("names the project's wrangler.toml", ({ expect }) => {
    expect(CONFIGURATION).toBe(join(PROJECT_FOLDER, "wrangler.toml"));
    expect(wranglerProgram(["deploy"]).slice(1)).toEqual(["deploy", "--config", CONFIGURATION]);
  });

  it("is made in src/tools/wrangler.ts, by no npm script and no workflow", ({ expect }) => {
    const runs = /wrangler\.js"|npx wrangler|^\s*(?:- )?run:.*\bwrangler\b|": "(?:[^"]* )?wrangler /m;
    const files = ["package.json", ".ci/run", ...filesUnder(".github/workflows", ".yml")];
    expect(files.filter((file) => runs.test(readText(file)))).toEqual([]);
    const sources = ["src", "test/support", "test/bench"].flatMap((each) => filesUnder(each, ".ts"));
    expect(sources.filter((file) => /["/]wrangler\.js"/.test(readText(file)))).toEqual([
      "src/tools/wrangler.ts",
    ]);
  });
});
