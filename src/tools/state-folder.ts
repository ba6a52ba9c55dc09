/** The state folder of the local service: writable, readable by its owner only, and used by one service at a time. */
import { randomUUID } from "node:crypto";
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { requireOwn } from "./file-owner.ts";
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
    requireOwn(data); // otherwise a link's target would get the mode
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

const MAX_LOCK_WAIT_MS = 5_000;

/**
 * Two services on one state folder would each count the requests of a key separately. The folder has a file with the
 * process ids of its service. Returns the service that still runs, or undefined if the folder is now this process's own.
 */
export async function lockFolder(folder: string, port: number): Promise<Holder | undefined> {
  for (const deadlineMs = Date.now() + MAX_LOCK_WAIT_MS; ; ) {
    const outcome = inFolder(folder, () => tryToLock(folder, port));
    if (outcome !== "claimed by others") return outcome === "locked" ? undefined : outcome;
    if (Date.now() > deadlineMs)
      throw new StartError(`The state folder ${folder} cannot be used: other starts use it now.`);
    await setTimeout(Math.random() * 50);
  }
}

/**
 * The lock of a killed service is replaced, and two starts must not both do that. So each creates a file of its own, a
 * claim, before it looks for other claims and reads the lock again. Of two starts, the one that creates its claim later
 * finds the claim of the other or, since a rename makes a claim the lock in one step, the other's lock.
 */
function tryToLock(folder: string, port: number): Holder | "locked" | "claimed by others" {
  const found = readLock(folder);
  const holder = holderIn(found);
  if (holder !== undefined && isRunning(holder)) return holder;
  removeStaleClaims(folder);
  const claim = createClaim(folder, { pid: process.pid, port });
  try {
    if (claimsIn(folder).length > 1 || readLock(folder) !== found) return "claimed by others";
    renameSync(claim, lockFile(folder));
    return "locked";
  } finally {
    rmSync(claim, { force: true });
  }
}

/** Records the group, so that it is found if this process is killed. */
export function recordWrangler(folder: string, port: number, wranglerGroup: number | undefined): void {
  if (wranglerGroup === undefined) return;
  inFolder(folder, () => {
    if (!hasOwnLock(folder)) throw new Error("its lock was removed or replaced");
    // Not written into the file itself, which another user of a shared folder may have replaced by a link.
    renameSync(createClaim(folder, { pid: process.pid, port, wranglerGroup }), lockFile(folder));
  });
}

export function unlockFolder(folder: string): void {
  if (hasOwnLock(folder)) rmSync(lockFile(folder), { force: true });
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

function hasOwnLock(folder: string): boolean {
  return holderIn(readLock(folder))?.pid === process.pid;
}

/** No name is used twice. It has the process id, because a process may be killed before it writes the content. */
function createClaim(folder: string, holder: Holder): string {
  const file = `${lockFile(folder)}.${process.pid}.${randomUUID()}`;
  writeFileSync(file, JSON.stringify(holder), { flag: "wx", mode: 0o600 });
  return file;
}

function claimsIn(folder: string): { file: string; pid: number }[] {
  return readdirSync(folder).flatMap((name) => {
    const pid = /^lock\.(\d+)\./.exec(name)?.[1];
    return pid === undefined ? [] : [{ file: join(folder, name), pid: Number(pid) }];
  });
}

function removeStaleClaims(folder: string): void {
  for (const claim of claimsIn(folder)) {
    if (!isStarterRunning(claim)) rmSync(claim.file, { force: true });
  }
}

function readLock(folder: string): string | undefined {
  try {
    // A FIFO would keep this process waiting for its writer.
    const flag = constants.O_RDONLY | constants.O_NONBLOCK;
    return readFileSync(lockFile(folder), { encoding: "utf8", flag });
  } catch (thrown) {
    if (thrown instanceof Error && "code" in thrown && thrown.code === "ENOENT") return undefined;
    throw thrown;
  }
}

/** Undefined if the text does not name a service. */
function holderIn(text: string | undefined): Holder | undefined {
  try {
    const { pid, port, wranglerGroup } = JSON.parse(text ?? "") as Partial<Holder>; // each member is checked below
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
function isStarterRunning({ pid }: Pick<Holder, "pid">): boolean {
  return pid !== process.pid && isProcessRunning(pid, /start\.ts/);
}

function inFolder<T>(folder: string, use: () => T): T {
  try {
    return use();
  } catch (thrown) {
    throw new StartError(`The state folder ${folder} cannot be used: ${messageOf(thrown)}`);
  }
}
