/** Ends the program when npm was ended: npm signals only the shell that runs the script, and that shell passes no signal on. */

import { NPM_SHELL_PID } from "./npm-shell.ts";

const CHECK_INTERVAL_MS = 250;

/**
 * Sends SIGTERM to this process when the shell of npm's script `name` has ended. Run by anything else, it may outlive its parent. A signal
 * to the whole process group ends the shell, too: `isEnding` says that this process has had one.
 */
export function endWithNpm(name: string, isEnding: () => boolean = () => false): void {
  if (process.env.npm_lifecycle_event !== name) return;
  const check = () => {
    if (process.ppid === NPM_SHELL_PID) return;
    clearInterval(timer);
    if (!isEnding()) process.kill(process.pid, "SIGTERM");
  };
  const timer = setInterval(check, CHECK_INTERVAL_MS);
  timer.unref();
  // It can have ended while the program was loaded.
  check();
}
