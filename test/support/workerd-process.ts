/** What Linux says about the workerd processes that this process started: CPU time and memory. */
import { existsSync, readdirSync, readFileSync } from "node:fs";

export type WorkerdProcess = { readonly pid: number };

/** False where there is no /proc, as on macOS and Windows. */
export const HAS_PROC = existsSync("/proc/self/stat");

/** The processes named workerd that this process has started; none without /proc. */
export function workerdProcesses(): WorkerdProcess[] {
  if (!HAS_PROC) return [];
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && isOurWorkerd(name));
  return pids.map((pid) => ({ pid: Number(pid) }));
}

/** Undefined without /proc. Throws unless there is exactly one, so that no other one's time is measured. */
export function findWorkerd(): WorkerdProcess | undefined {
  const found = workerdProcesses();
  if (HAS_PROC && found.length !== 1)
    throw new Error(`this process has ${found.length} workerd processes, not one`);
  return found[0];
}

function isOurWorkerd(pid: string): boolean {
  try {
    const { name, fields } = readStat(pid);
    return name === "workerd" && Number(fields[1]) === process.pid;
  } catch {
    return false; // the process ended after the folder was listed
  }
}

/** User and system time of its threads, in milliseconds. The ticks of /proc/PID/stat are of 10 ms. */
export function cpuMsOf({ pid }: WorkerdProcess): number {
  let nanoseconds = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      const [onCpu] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ");
      nanoseconds += Number(onCpu);
    } catch {
      // the thread ended after the folder was listed
    }
  }
  return nanoseconds / 1e6;
}

/** Its resident memory now, and the peak of it since it started. */
export function residentMegabytesOf({ pid }: WorkerdProcess): { now: number; peak: number } {
  const text = readFileSync(`/proc/${pid}/status`, "utf8");
  const megabytes = (name: string) => {
    const kilobytes = new RegExp(`^${name}:\\s*(\\d+) kB$`, "m").exec(text)?.[1];
    if (kilobytes === undefined) throw new Error(`the system gives no ${name} of workerd`);
    return Number(kilobytes) / 1024;
  };
  return { now: megabytes("VmRSS"), peak: megabytes("VmHWM") };
}

/** proc_pid_stat(5): the name is in parentheses and may have spaces. The state comes after the name. */
function readStat(pid: string): { name: string; fields: string[] } {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  const end = text.lastIndexOf(")");
  return { name: text.slice(text.indexOf("(") + 1, end), fields: text.slice(end + 2).split(" ") };
}
