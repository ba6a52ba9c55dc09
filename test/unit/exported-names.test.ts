/** An exported name means one thing in all of src, so a search finds that thing. */
import { expect, it } from "vitest";
import { filesUnder, readText } from "../support/sources.ts";

/** Stands in for object.ts in Node, and has a class of the same name. */
const STAND_IN = "src/limiter/node.ts";
const EXPORT =
  /^export (?:declare )?(?:default )?(?:abstract )?(?:async )?(?:const|let|class|enum|function\*?|interface|type) (\w+)/gm;

it("exports each name from one file", () => {
  const files = [".ts", ".tsx"]
    .flatMap((extension) => filesUnder("src", extension))
    .filter((file) => !/\/test\/|\.d\.ts$/.test(file) && file !== STAND_IN);
  const exported = files.flatMap((file) =>
    [...readText(file).matchAll(EXPORT)].map(([, name = ""]) => ({ name, file })),
  );
  const shared = [...Map.groupBy(exported, ({ name }) => name)]
    .map(([name, of]) => [name, ...new Set(of.map(({ file }) => file))])
    .filter(([, , second]) => second !== undefined);
  expect(shared).toEqual([]);
});
