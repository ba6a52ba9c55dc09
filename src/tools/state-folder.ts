/** The state folder of the local service: writable, readable by its owner only, and used by one service at a time. */
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { isGroupRunning, isProcessRunning } from "./processes.ts";
import { messageOf, StartError } from "./start-error.ts";

/**
 * A folder that is created is readable by its owner only. One that exists keeps its mode, because it may be one that others
 * use, such as /tmp: wrangler keeps everything in its subfolder `v3`.
 */
export function requireFolder(folder: string): void {
  const data = join(folder, "v3");
  inFolder(folder, () => {
    makeFolders(data);
    chmodSync(data, 0o700);
    // wrangler would retry for a minute if a file of an earlier run, such as one as root, cannot be written.
    for (const entry of readdirSync(data, { recursive: true, encoding: "utf8" })) {
      accessSync(join(data, entry), constants.R_OK | constants.W_OK);
    }
  });
}

/** Without `recursive`, with which Node never returns if the file system answers ENOENT, as /proc does. */
function makeFolders(folder: string): void {
  if (existsSync(folder)) return;
  makeFolders(dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (thrown) {
    if (!existsSync(folder)) throw thrown; // made by another start meanwhile
  }
}

/** The service that has the folder: the process of `npm start`, and the process group of the wrangler that it runs. */
export type Holder = { readonly pid: number; readonly port: number; readonly wranglerGroup?: number };

/**
 * Two services on one state folder would each count the requests of a key separately. The folder has a file with the
 * process ids of its service. Returns the service that still runs, or undefined if the folder is now this process's own.
 */
export function lockFolder(folder: string, port: number): Holder | undefined {
  const file = lockFile(folder);
  return inFolder(folder, () => {
    for (;;) {
      if (createLock(file, { pid: process.pid, port })) return undefined;
      const holder = readHolder(file);
      if (holder !== undefined && isRunning(holder)) return holder;
      rmSync(file);
    }
  });
}

/** Records the group, so that it is found if this process is killed. */
export function recordWrangler(folder: string, port: number, wranglerGroup: number | undefined): void {
  const holder: Holder = {
    pid: process.pid,
    port,
    ...(wranglerGroup === undefined ? {} : { wranglerGroup }),
  };
  inFolder(folder, () => writeFileSync(lockFile(folder), JSON.stringify(holder)));
}

export function unlockFolder(folder: string): void {
  rmSync(lockFile(folder), { force: true });
}

/** What is in the way of a new service, and what ends it. `command` starts another service in a folder of its own. */
export function describeHolder(folder: string, holder: Holder, command: string): string {
  if (isStarterRunning(holder)) {
    return `The state folder ${folder} is in use by process ${holder.pid}, at http://localhost:${holder.port}. Stop that process (kill ${holder.pid}), or start a second service with data of its own: ${command}`;
  }
  return `An earlier npm start was killed, and processes that it started still use the state folder ${folder}. Stop them: kill -9 -${holder.wranglerGroup}`;
}

function lockFile(folder: string): string {
  return join(folder, "lock");
}

function createLock(file: string, holder: Holder): boolean {
  try {
    writeFileSync(file, JSON.stringify(holder), { flag: "wx", mode: 0o600 });
    return true;
  } catch (thrown) {
    if (thrown instanceof Error && "code" in thrown && thrown.code === "EEXIST") return false;
    throw thrown;
  }
}

/** Undefined if the file is not complete, because its process was killed while it wrote. */
function readHolder(file: string): Holder | undefined {
  const text = readFileSync(file, "utf8");
  try {
    const { pid, port, wranglerGroup } = JSON.parse(text) as Partial<Holder>; // each member is checked below
    if (!Number.isInteger(pid) || !Number.isInteger(port) || pid === undefined || port === undefined)
      return undefined;
    return { pid, port, ...(Number.isInteger(wranglerGroup) && wranglerGroup ? { wranglerGroup } : {}) };
  } catch {
    return undefined;
  }
}

function isRunning(holder: Holder): boolean {
  const { wranglerGroup } = holder;
  return (
    isStarterRunning(holder) ||
    (wranglerGroup !== undefined && isGroupRunning(wranglerGroup, /workerd|wrangler|dev-server/))
  );
}

/** In a container that is started again, this process may have the id of the one that wrote the file. */
function isStarterRunning({ pid }: Holder): boolean {
  return pid !== process.pid && isProcessRunning(pid, /start\.ts/);
}

function inFolder<T>(folder: string, use: () => T): T {
  try {
    return use();
  } catch (thrown) {
    throw new StartError(`The state folder ${folder} cannot be used: ${messageOf(thrown)}`);
  }
}
