/** The process that the SIGKILL run kills: the service with its storage in a folder. Prints its addresses. */
import { readFile } from "node:fs/promises";
import { startFaultService } from "./service.ts";

const [script = "", folder = ""] = process.argv.slice(2);
const { urls } = await startFaultService(await readFile(script, "utf8"), { isolates: 2, folder });
console.log(JSON.stringify(urls));
