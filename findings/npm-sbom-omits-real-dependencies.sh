#!/bin/sh
# npm 11.19.1: `npm sbom --omit=dev` where a package is needed by the product and is a devDependency of the project too.
# Guess: the package stays in the list, as `npm ls --omit=dev` keeps it and an installation with `--omit=dev` has it.
# Behaviour: the list leaves it out, with everything that only it needs, so a bill of materials for production has holes.
# Seen with Node 20.20.2: npm ls has strip-ansi and ansi-regex below string-width, npm sbom has neither.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
cat > package.json <<'EOF'
{
  "name": "project",
  "version": "1.0.0",
  "dependencies": { "string-width": "4.2.3" },
  "devDependencies": { "strip-ansi": "6.0.1" }
}
EOF
mkdir tool
npm install --silent --no-audit --no-fund --ignore-scripts --prefix tool npm@11.19.1
npm="$dir/tool/node_modules/.bin/npm"
"$npm" install --silent --no-audit --no-fund --ignore-scripts

"$npm" ls --all --omit=dev --parseable | sed 's|.*node_modules/||' > ls.txt
"$npm" sbom --omit=dev --sbom-format=cyclonedx > sbom.json
node -e '
const assert = require("node:assert/strict");
const { readFileSync } = require("node:fs");
const listed = readFileSync("ls.txt", "utf8").split("\n");
const sbom = JSON.parse(readFileSync("sbom.json", "utf8")).components.map((component) => component.name);
for (const name of ["string-width", "strip-ansi", "ansi-regex"])
  console.log(`${name}: npm ls ${listed.includes(name)}, npm sbom ${sbom.includes(name)}`);
assert(listed.includes("strip-ansi") && !sbom.includes("strip-ansi") && sbom.includes("string-width"));
'
