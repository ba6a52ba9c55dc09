/** `lock-folder.ts start.ts`: locks each folder that its parent sends. The argument makes it look like `npm start` in `ps`. */
import { lockFolder } from "../../src/tools/state-folder.ts";

process.on("message", async (folder: string) => {
  process.send?.({ holder: await lockFolder(folder, process.pid) });
});
process.send?.("ready");
