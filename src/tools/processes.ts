/** Which processes run on this machine. A process id may belong to another program by now, so the command line is checked. */
import { execFileSync } from "node:child_process";

type Process = { readonly pid: number; readonly group: number; readonly command: string };

export function isProcessRunning(pid: number, command: RegExp): boolean {
  if (!acceptsSignals(pid)) return false;
  const processes = runningProcesses();
  if (processes === undefined) return true;
  return processes.some((each) => each.pid === pid && command.test(each.command));
}

export function isGroupRunning(group: number, command: RegExp): boolean {
  if (!acceptsSignals(-group)) return false;
  const processes = runningProcesses();
  if (processes === undefined) return true;
  return processes.some((each) => each.group === group && command.test(each.command));
}

/** Without zombies. Undefined where there is no `ps`, as in a small container. */
function runningProcesses(): Process[] | undefined {
  const columns = ["pid=", "pgid=", "stat=", "args="].flatMap((column) => ["-o", column]);
  try {
    const text = execFileSync("ps", ["-A", "-ww", ...columns], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    return [...text.matchAll(/^ *(\d+) +(\d+) +([^Z\s]\S*) +(.*)$/gm)].map(
      ([, pid, group, , command = ""]) => ({
        pid: Number(pid),
        group: Number(group),
        command,
      }),
    );
  } catch {
    return undefined;
  }
}

/** A negative number is a process group. */
function acceptsSignals(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return thrown instanceof Error && "code" in thrown && thrown.code === "EPERM";
  }
}
