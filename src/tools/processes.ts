/** Which processes run on this machine. A process id may belong to another program by now, so the command line is checked. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

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

/** Without zombies. Undefined where neither `ps` nor /proc lists them. */
function runningProcesses(): Process[] | undefined {
  return processesOfPs() ?? processesOfProc();
}

function processesOfPs(): Process[] | undefined {
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

/** For a small container without `ps`, or with one that has fewer options. The ids of threads are not in the list of /proc. */
function processesOfProc(): Process[] | undefined {
  try {
    const processes = readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? processOfProc(name) : []));
    return processes.some(({ pid }) => pid === process.pid) ? processes : undefined;
  } catch {
    return undefined;
  }
}

/** https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html: pid, (name), state, parent, process group. */
function processOfProc(pid: string): Process[] {
  try {
    const [, state, group] = /\) (\S) \d+ (\d+)[^)]*$/.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? [];
    if (state === undefined || state === "Z") return [];
    const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
    return [{ pid: Number(pid), group: Number(group), command }];
  } catch {
    return []; // it has ended meanwhile
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
