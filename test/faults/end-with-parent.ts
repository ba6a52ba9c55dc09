/** Loaded with `--import`: ends the process and all that it started when its parent has ended in any way. */
import { isMainThread } from "node:worker_threads";

// A thread has no standard input of its own.
if (isMainThread) {
  // Standard input is a pipe from the parent. The system closes it even if the parent was killed by SIGKILL.
  process.stdin.once("close", () => process.kill(0, "SIGKILL"));
  process.stdin.resume().unref();
}
