/** One row asks a limiter: with new keys, from the beginning of a window on. */
import { type Answer, answerOf, type Sent } from "./answer.ts";
import type { Settings } from "./settings.ts";

/** A test has a world of its own, with a clock that does not wait. */
export type World = {
  /** Status 0 is no answer. */
  readonly send: (method: string, path: string, headers: Readonly<Record<string, string>>) => Promise<Sent>;
  /** Answers what the command prints. */
  readonly run: (command: string, env: Readonly<Record<string, string>>) => Promise<string>;
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
};

/** `id`: the second word of the line that made it, for commands; else the key. */
export type Key = { readonly key: string; readonly id: string };

export type Outcome = { readonly verdict: "pass" | "FAIL" | "not asked"; readonly seen: string };

/** The row cannot be judged. */
export class NotAsked extends Error {}
/** The window ended before the row did, so its figures mean nothing. */
export class TooSlow extends Error {}

/** In seconds. */
export function waitOf({ retryAfter, headers }: Answer): number {
  if (retryAfter !== undefined) return retryAfter;
  throw new NotAsked(`no Retry-After that can be read: ${headers.get("Retry-After")}`);
}

/** Clocks of two machines, or of two processes, differ by less. */
const AFTER_BORDER_MS = 100;
/** A timer and a clock differ by some milliseconds. */
const ON_TIME_MS = 20;

export class Session {
  readonly settings: Settings;
  readonly count: number;
  readonly windowMs: number;
  readonly #world: World;
  readonly #ok: string;
  readonly #keys: Key[];
  #startedAtMs = 0;

  constructor(world: World, settings: Settings, keys: readonly Key[], ok: string) {
    this.settings = settings;
    this.count = settings.limit.count;
    this.windowMs = settings.limit.seconds * 1000;
    this.#world = world;
    this.#ok = ok;
    this.#keys = [...keys];
  }

  key(): Key {
    const key = this.#keys.shift();
    if (key === undefined) throw new NotAsked("the list of keys has no more");
    return key;
  }

  /**
   * A window that is aligned to the clock begins at a border, and others with their first request. So a row
   * begins just behind a border, with `windows` before the longer one's.
   */
  async begin(longerSeconds?: number): Promise<void> {
    const longerMs = (longerSeconds ?? 0) * 1000;
    const leftMs = longerMs - (this.#world.now() % longerMs);
    if (longerMs > 0 && leftMs < 4 * this.windowMs) await this.#world.sleep(leftMs);
    else await this.#world.sleep(this.windowMs - (this.#world.now() % this.windowMs));
    await this.#world.sleep(AFTER_BORDER_MS);
    this.#startedAtMs = this.#world.now();
  }

  /** Waits until this time after an answer. */
  async untilAfter(answer: Answer | undefined, ms: number): Promise<void> {
    await this.#sleepUntil((answer?.readAtMs ?? this.#startedAtMs) + ms);
  }

  /** Waits until this time after the beginning. */
  until(ms: number): Promise<void> {
    return this.#sleepUntil(this.#startedAtMs + ms);
  }

  async #sleepUntil(atMs: number): Promise<void> {
    for (let left = atMs - this.#world.now(); left > 0; left = atMs - this.#world.now())
      await this.#world.sleep(left);
  }

  /** Throws if the window may be over. */
  checkWindow(): void {
    if (this.#world.now() > this.#startedAtMs - AFTER_BORDER_MS + this.windowMs) throw new TooSlow();
  }

  /** What a limit that comes back bit by bit has given back since the first was sent, until the last was read. */
  backBetween(first?: Answer, last?: Answer): number {
    const untilMs = last?.readAtMs ?? this.#world.now();
    return Math.floor(((untilMs - (first?.sentAtMs ?? untilMs)) * this.count) / this.windowMs);
  }

  run(command: string | undefined, key?: Key, env: Readonly<Record<string, string>> = {}): Promise<string> {
    return this.#world.run(command ?? "", { ...(key && { KEY: key.key, ID: key.id }), ...env });
  }

  async ask(
    key: Key | "none" | "empty",
    request = this.#ok,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const [method = "", path = ""] = request.split(" ");
    const [name = "", ...value] = this.settings.header.split(": ");
    const text = typeof key === "string" ? "" : value.join(": ").replaceAll("{key}", () => key.key);
    const sentAtMs = this.#world.now();
    const sent = await this.#world.send(method, path, {
      ...headers,
      ...(key !== "none" && { [name]: text }),
    });
    return answerOf(sent, sentAtMs, this.#world.now(), this.settings.limit.seconds);
  }

  /** The same request with another method. */
  askBy(method: string, key: Key): Promise<Answer> {
    return this.ask(key, this.#ok.replace(/^\S+/, method));
  }

  atOnce(key: Key, requests: number): Promise<Answer[]> {
    return Promise.all(Array.from({ length: requests }, () => this.ask(key)));
  }

  /** One after another. */
  async use(key: Key | "none" | "empty", requests: number): Promise<Answer[]> {
    const answers: Answer[] = [];
    while (answers.length < requests) answers.push(await this.ask(key));
    return answers;
  }

  /** One after another, until one is refused. */
  async exhaust(key: Key): Promise<{ admitted: readonly Answer[]; refused: Answer }> {
    const admitted: Answer[] = [];
    for (;;) {
      const answer = await this.ask(key);
      if (!answer.isAdmitted) return { admitted, refused: answer };
      admitted.push(answer);
      if (admitted.length <= 3 * this.count) continue;
      this.checkWindow();
      throw new NotAsked(`${admitted.length} requests at a limit of ${this.count}, and none was refused`);
    }
  }

  /** At this multiple of the limit, evenly. */
  async pace(key: Key, multiple: number, windows: number): Promise<Answer[]> {
    const answers: Promise<Answer>[] = [];
    const requests = Math.floor(multiple * this.count * windows);
    for (let i = 0; i < requests; i++) {
      await this.until((i * this.windowMs) / (multiple * this.count));
      answers.push(this.ask(key));
    }
    return await Promise.all(answers);
  }

  /** Waits as `Retry-After` says. */
  async waitFor(answer: Answer): Promise<void> {
    await this.#sleepUntil(answer.readAtMs + waitOf(answer) * 1000 + ON_TIME_MS);
  }

  /** Waits until this time before, even if the answer was long on its way. */
  async waitAlmost(answer: Answer, earlierMs: number): Promise<void> {
    await this.#sleepUntil(answer.sentAtMs + waitOf(answer) * 1000 - earlierMs);
  }

  /** Asks until `isEnd`, and answers the seconds that it took, or undefined. */
  async poll(seconds: number, everyMs: number, isEnd: () => Promise<boolean>): Promise<number | undefined> {
    const startMs = this.#world.now();
    while (this.#world.now() <= startMs + seconds * 1000) {
      const askedAtMs = this.#world.now();
      if (await isEnd()) return (askedAtMs - startMs) / 1000;
      await this.#world.sleep(everyMs);
    }
    return undefined;
  }
}
