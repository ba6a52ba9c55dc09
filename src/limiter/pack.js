/**
 * npm runs this before and after it packs. The repository's programs use the sources, which `exports` names,
 * so no build comes before a test. A packed manifest names what was built. Only that manifest is not private:
 * npm publishes neither the folder nor a file that was packed without scripts, which would hold no code.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";

const MANIFEST = new URL("package.json", import.meta.url);
const SOURCES = new URL("package.json.sources", import.meta.url);

if (process.env.npm_lifecycle_event === "postpack") {
  renameSync(SOURCES, MANIFEST);
} else {
  // The copy is there already if the last run was ended.
  if (!existsSync(SOURCES)) writeFileSync(SOURCES, readFileSync(MANIFEST));
  const packed = readFileSync(SOURCES, "utf8")
    .replace('  "private": true,\n', "")
    .replaceAll(/"types": "\.\/(\w+)\.ts"/g, '"types": "./dist/$1.d.ts"')
    .replaceAll(/: "\.\/(\w+)\.ts"/g, ': "./dist/$1.js"');
  writeFileSync(MANIFEST, packed);
}
