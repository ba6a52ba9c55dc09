/** HTTP clients with their defaults, each with its own Free key: one of each kind of docs/clients.md. */
import { execFile } from "node:child_process";
import ky from "ky";
import superagent from "superagent";
import { Agent, interceptors, request } from "undici";
import { afterAll, beforeAll, describe, it } from "vitest";
import { startWorkerd, type Workerd } from "../support/workerd.ts";

const REQUESTS = 90;
/** What a counted request for a pet is answered with. */
const THROUGH = 404;

/** Resolves with the last status, or rejects with it. */
type Get = (url: string, options: { readonly headers: Record<string, string> }) => Promise<unknown>;

const undiciAgent = new Agent().compose(interceptors.retry());

const PATIENT: Readonly<Record<string, Get>> = {
  ky,
  undici: (url, options) => request(url, { ...options, dispatcher: undiciAgent }),
};
/** It does not read Retry-After, and gives up within seconds. */
const HASTY: Readonly<Record<string, Get>> = {
  superagent: (url, { headers }) => superagent.get(url).set(headers).retry(5),
};
const CLIENTS = { ...PATIENT, ...HASTY };

/** Programs that print the status of each of their requests, which they send at once. */
const PROGRAMS: Readonly<Record<string, (key: string, times: number) => readonly [string, ...string[]]>> = {
  curl: (key, times) => {
    const header = `Authorization: Bearer ${key}`;
    const options = [
      "--silent",
      "--fail",
      "--retry",
      "5",
      "--write-out",
      "%{http_code}\\n",
      "--header",
      header,
    ];
    const parallel = ["--parallel", "--parallel-immediate", "--parallel-max", `${times}`];
    return ["curl", ...options, ...parallel, ...Array.from({ length: times }, petUrl)];
  },
};
/** After a used-up day: who has ended after 12 seconds. The others wait, for hours or for their own time. */
const ENDS_AFTER_A_DAY: Readonly<Record<string, boolean>> = {
  curl: false,
  ky: false,
  undici: false,
  superagent: true,
};
const DAY_MS = 12_000;

type Outcome = { readonly through: number; readonly isBanned: boolean };

let service: Workerd;
/** By the client's name and how it sends. */
const outcomes = new Map<string, Outcome>();
/** The last message before the poller was banned. */
let warning: string;

beforeAll(async () => {
  service = await startWorkerd();
  const all = Object.entries(CLIENTS).flatMap(([name, get], i) => [
    // One burst a second: ky gives up a request that takes 10 seconds.
    note(`${name}, at once`, i * 1_000, (key) =>
      Promise.all(Array.from({ length: REQUESTS }, () => statusOf(get, key))),
    ),
    // One by one, a hasty client is a poller. From second 40 of a minute on, no 20 seconds are left for it.
    note(`${name}, one by one`, name in HASTY ? untilSecondMs(40) : 0, (key) =>
      inTurn(() => statusOf(get, key), 0),
    ),
  ]);
  const programs = Object.keys(PROGRAMS).map((name) =>
    note(`${name}, at once`, 0, (key) => statusesOf(name, key, REQUESTS)),
  );
  const loop = note("a loop", 0, (key) => inTurn(() => statusOf(fetch, key), 150));
  [warning] = await Promise.all([pollUntilBanned(), ...all, ...programs, loop]);
}, 240_000);

afterAll(async () => {
  await service?.close();
});

async function note(name: string, afterMs: number, send: (key: string) => Promise<(number | undefined)[]>) {
  const { key } = await service.createKey({ plan: "free" });
  await pause(afterMs);
  const statuses = await send(key);
  const through = statuses.filter((status) => status === THROUGH).length;
  outcomes.set(name, { through, isBanned: (await askOnce(key)).code === "key_banned" });
}

async function inTurn<T>(send: () => Promise<T>, gapMs: number): Promise<T[]> {
  const answers: T[] = [];
  while (answers.length < REQUESTS) {
    answers.push(await send());
    await pause(gapMs);
  }
  return answers;
}

const optionsWith = (key: string) => ({ headers: { Authorization: `Bearer ${key}` } });
const petUrl = () => new URL("/v1/pets/1", service.url).href;

/** The last status of a request, which each client tells in its own way. Undefined: it failed without one. */
async function statusOf(get: Get, key: string): Promise<number | undefined> {
  type Told = { status?: number; statusCode?: number; response?: Told };
  const answer = await get(petUrl(), optionsWith(key)).catch((thrown: unknown) => thrown);
  const told = answer as Told; // each client's response or error has at least one of the members
  return told.status ?? told.statusCode ?? told.response?.status ?? told.response?.statusCode;
}

/** Ends a program that is not done in time. */
function statusesOf(name: string, key: string, times: number, timeout?: number): Promise<number[]> {
  const [file = "", ...args] = PROGRAMS[name]?.(key, times) ?? [];
  return new Promise((resolve) => {
    execFile(file, args, { timeout }, (_, out) => resolve(out.split("\n").filter(Boolean).map(Number)));
  });
}

/** Whether a client whose day is used up has ended. */
async function hasEnded(name: string): Promise<boolean> {
  const { key } = await service.createKey({ plan: "free", perDay: 1 });
  await askOnce(key);
  if (name in PROGRAMS) return (await statusesOf(name, key, 1, DAY_MS)).length > 0;
  const get = CLIENTS[name];
  if (get === undefined) throw new Error(`no client ${name}`);
  return Promise.race([statusOf(get, key).then(() => true), pause(DAY_MS).then(() => false)]);
}

async function askOnce(key: string): Promise<{ readonly code: string; readonly message: string }> {
  const response = await fetch(petUrl(), optionsWith(key));
  return (await response.json()) as { code: string; message: string }; // an Error object: there are no pets
}

/** A ban needs 20 seconds of one minute, which are left in the next one, at the latest. */
async function pollUntilBanned(): Promise<string> {
  const { key } = await service.createKey({ plan: "free" });
  let last = "";
  for (let polls = 0; polls < 600; polls++) {
    const { code, message } = await askOnce(key);
    if (code === "key_banned") return last;
    last = message;
    await pause(250);
  }
  throw new Error(`no ban within 600 polls: ${last}`);
}

function untilSecondMs(second: number): number {
  return (60_000 + second * 1_000 - (Date.now() % 60_000)) % 60_000;
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}

describe("90 requests with a Free key", () => {
  const ways = Object.keys(CLIENTS).flatMap((name) => [`${name}, at once`, `${name}, one by one`]);

  it.for([...ways, "a loop"])("of %s lead to no ban", (name, { expect }) => {
    expect(outcomes.get(name)).toMatchObject({ isBanned: false });
  });

  it.for(Object.keys(PROGRAMS))("of %s, at once, all get through", (name, { expect }) => {
    expect(outcomes.get(`${name}, at once`)).toEqual({ through: REQUESTS, isBanned: false });
  });

  it.for(Object.keys(PATIENT))("of %s all get through", (name, { expect }) => {
    expect(outcomes.get(`${name}, at once`)?.through).toBe(REQUESTS);
    expect(outcomes.get(`${name}, one by one`)?.through).toBe(REQUESTS);
  });
});

describe("a poller every 250 ms", () => {
  it("is banned in the 20th second in which it goes on", ({ expect }) => {
    expect(warning).toMatch(/ 19 of the 20 seconds that lead to a ban are used\.$/);
  });
});

describe("after a used-up day", () => {
  it("only clients that do not read Retry-After end soon", async ({ expect }) => {
    const names = Object.keys(ENDS_AFTER_A_DAY);
    const ended = await Promise.all(names.map(async (name) => [name, await hasEnded(name)]));
    expect(Object.fromEntries(ended)).toEqual(ENDS_AFTER_A_DAY);
  });
});
