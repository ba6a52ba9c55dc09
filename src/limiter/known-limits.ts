/**
 * What a client knows of its limits, from the headers of its answers, and when it may send the next request.
 *
 * Reads no clock: each time is a parameter, by the client's own clock. Of the server's clock only differences
 * count. An answer was made at an unknown time between its request and its arrival, and seconds are rounded
 * up, so the end of a window is known within bounds.
 */
import { type BareItem, type Item, parseList } from "structured-headers";
import { exhaustedWindow, type WindowView } from "./core/windows.ts";

/** A request reaches its server within this time. What was sent before is in what a later answer says. */
const ARRIVAL_MS = 10_000;
/** How much of the rest is on its way at a time while others may use it, too. */
const SHARE = 1 / 8;
const WINDOWS_SHARED = 5;
const REQUESTS = "requests";
const MIN_PAUSE_MS = 1_000;
const MAX_PAUSES_DOUBLED = 6;

/** A request on its way, or one whose answer was lost or said nothing: it may have counted. */
export type Flight = { readonly sentAtMs: number; isLost: boolean };

type Answer = { readonly status: number; readonly headers: Pick<Headers, "get"> };

/** What one answer says of a window. The window ends after `afterMs` and at `byMs` at the latest. */
type Report = {
  readonly name: string;
  readonly limit: number | undefined;
  readonly remaining: number;
  readonly lengthMs: number | undefined;
  readonly unit: string;
  readonly afterMs: number;
  readonly byMs: number;
};

type Known = Report & {
  readonly limit: number;
  /** When the request was sent whose answer says what remains, and when that answer was read. */
  readonly sentAtMs: number;
  readonly readAtMs: number;
  /** How many requests of this client the window has counted, as far as is known. */
  readonly own: number;
  /** More than 0 while others use the limit: for how many windows without a sign of them that is assumed. */
  readonly sharedFor: number;
};

/** `isSure`: no answer can make it earlier. */
export type Turn = { readonly atMs: number; readonly isSure: boolean };

const AFTER_AN_ANSWER: Turn = { atMs: Number.POSITIVE_INFINITY, isSure: false };

export class KnownLimits {
  #windows: readonly Known[] = [];
  readonly #flights = new Set<Flight>();
  #hasAnswer = false;
  #pausedUntilMs = 0;
  #refusals = 0;

  /** When the next request may be sent. */
  nextTurn(nowMs: number): Turn {
    if (nowMs < this.#pausedUntilMs) return { atMs: this.#pausedUntilMs, isSure: true };
    const now = { atMs: nowMs, isSure: true };
    // The first request asks for the limits.
    if (!this.#hasAnswer) return this.#liveSince(0) > 0 ? AFTER_AN_ANSWER : now;
    const quota = this.#windows.map((known) => this.#viewAt(known, nowMs));
    // What it costs in other units, only the server knows.
    const full = exhaustedWindow(quota, Object.fromEntries(quota.map(({ unit }) => [unit, 1])));
    if (full && full.endsAtMs > nowMs) {
      const atMs = full.remaining > 0 ? Math.min(full.endsAtMs, this.#lostUntilMs()) : full.endsAtMs;
      if (nowMs < atMs) return { atMs, isSure: full.remaining === 0 };
    }
    const isHeld = this.#windows.some((known) => {
      const { countsFromMs, most } = stateAt(known, nowMs);
      const live = this.#liveSince(countsFromMs);
      return live > 0 && live >= most;
    });
    return isHeld ? AFTER_AN_ANSWER : now;
  }

  start(sentAtMs: number): Flight {
    const flight = { sentAtMs, isLost: false };
    this.#flights.add(flight);
    return flight;
  }

  /** The request has failed, or was aborted. */
  lose(flight: Flight): void {
    flight.isLost = true;
    this.#windows = this.#windows.map((known) => ({ ...known, own: known.own + 1 }));
  }

  /** Learns from an answer. Returns when a refused request may be sent again, or undefined if it was served. */
  learn(flight: Flight, answer: Answer, readAtMs: number): number | undefined {
    const { status, headers } = answer;
    // GitHub refuses with 403, too.
    const isRefused = status === 429 || (status === 403 && headers.get("Retry-After") !== null);
    const reports = reportsOf(headers, flight.sentAtMs, readAtMs);
    if (isRefused || reports.length > 0) this.#flights.delete(flight);
    else this.lose(flight);
    // A gateway in between knows no limits.
    if (reports.length === 0 && status >= 500) return undefined;
    const merged = reports.map((report) => {
      const known = this.#windows.find(({ name }) => name === report.name);
      return this.#merge(known, report, { sentAtMs: flight.sentAtMs, readAtMs, isRefused });
    });
    // A window that is over, and is not named any more, is no limit of these requests.
    const others = this.#windows.filter(
      ({ name, byMs }) => flight.sentAtMs < byMs && !reports.some((report) => report.name === name),
    );
    this.#windows = [...merged, ...others];
    this.#forgetLost(readAtMs);
    if (!isRefused || reports.length > 0) this.#hasAnswer = true;
    if (!isRefused) {
      this.#refusals = 0;
      return undefined;
    }
    const pauseMs = 1000 * (secondsToGo("Retry-After", headers, readAtMs) ?? 0);
    const doubledMs = MIN_PAUSE_MS * 2 ** Math.min(this.#refusals++, MAX_PAUSES_DOUBLED);
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, readAtMs + (pauseMs > 0 ? pauseMs : doubledMs));
    return this.#pausedUntilMs;
  }

  #merge(
    known: Known | undefined,
    report: Report,
    { sentAtMs, readAtMs, isRefused }: { sentAtMs: number; readAtMs: number; isRefused: boolean },
  ): Known {
    const limit = report.limit ?? Math.max(known?.limit ?? 0, report.remaining + 1);
    const isNew = known === undefined || report.afterMs >= known.byMs;
    if (!isNew && report.byMs <= known.afterMs) return known; // of the window before
    const own = (isNew ? 0 : known.own) + 1;
    // Requests on their way may have counted, too.
    const hasOthers = isRefused || limit - report.remaining > own + this.#flights.size;
    const before = known?.sharedFor ?? 0;
    const sharedFor = hasOthers ? WINDOWS_SHARED : Math.max(0, isNew ? before - 1 : before);
    if (isNew) return { ...report, limit, sentAtMs, readAtMs, own, sharedFor };
    const { lengthMs = 0 } = report;
    const isSame = report.byMs - known.afterMs < lengthMs && known.byMs - report.afterMs < lengthMs;
    // Answers overtake each other. Only one to a request that was sent after all other answers is newer.
    const isNewer = sentAtMs > known.readAtMs || report.remaining < known.remaining;
    return {
      ...(isNewer ? { ...report, sentAtMs } : known),
      limit,
      readAtMs,
      own,
      afterMs: Math.max(known.afterMs, report.afterMs),
      byMs: isSame ? Math.min(known.byMs, report.byMs) : Math.max(known.byMs, report.byMs),
      sharedFor,
    };
  }

  /** The window with the requests on their way, as if they were counted last. */
  #viewAt(known: Known, nowMs: number): WindowView {
    const { limit, unit, byMs, lengthMs = 0 } = known;
    const { countsFromMs, remaining } = stateAt(known, nowMs);
    const flights = unit === REQUESTS ? this.#flightsSince(countsFromMs).length : 0;
    const used = limit - remaining + flights;
    return { ...known, used, remaining, seconds: lengthMs / 1000, startMs: byMs - lengthMs, endsAtMs: byMs };
  }

  #flightsSince(atMs: number): readonly Flight[] {
    return [...this.#flights].filter(({ sentAtMs }) => sentAtMs >= atMs);
  }

  #liveSince(atMs: number): number {
    return this.#flightsSince(atMs).filter(({ isLost }) => !isLost).length;
  }

  /** If only lost requests hold the last places, one request asks what has become of them. */
  #lostUntilMs(): number {
    const sent = [...this.#flights].map(({ sentAtMs, isLost }) =>
      isLost ? sentAtMs : Number.POSITIVE_INFINITY,
    );
    return Math.max(...sent) + ARRIVAL_MS;
  }

  #forgetLost(nowMs: number): void {
    const countsFromMs = Math.min(...this.#windows.map((known) => stateAt(known, nowMs).countsFromMs));
    for (const flight of this.#flights)
      if (flight.isLost && flight.sentAtMs < countsFromMs) this.#flights.delete(flight);
  }
}

/**
 * What a window has now. Requests that were sent before `countsFromMs` are in `remaining` already. While others
 * use the window, or no answer has told of a new one, only `most` may be on their way at a time.
 */
function stateAt(known: Known, nowMs: number) {
  const { limit, lengthMs } = known;
  const isOver = nowMs >= known.byMs;
  const isShared = known.sharedFor > 0;
  const remaining = isOver ? limit : known.remaining;
  const share = Math.floor(remaining * SHARE);
  // The triple names one window, and after its end perhaps another that has less.
  const first = isShared || lengthMs === undefined ? 1 : share;
  return {
    remaining,
    countsFromMs: (isOver ? known.afterMs : known.sentAtMs) - ARRIVAL_MS,
    most: isOver ? first : isShared ? share : Number.POSITIVE_INFINITY,
  };
}

/** `RateLimit` has all windows. The triple is read without it, and has one. */
function reportsOf(headers: Answer["headers"], sentAtMs: number, readAtMs: number): readonly Report[] {
  // An answer of a cache was not counted, and its seconds are old.
  if (Number(headers.get("Age")) > 0) return [];
  const bounds = (seconds: number) => ({
    afterMs: sentAtMs + (seconds - 1) * 1000,
    byMs: readAtMs + seconds * 1000,
  });
  const policies = new Map(itemsOf(headers.get("RateLimit-Policy")));
  const reports = itemsOf(headers.get("RateLimit")).flatMap(([name, has]): Report[] => {
    const policy = policies.get(name);
    const seconds = whole(policy?.get("w"));
    const [remaining, limit] = [whole(has.get("r")), whole(policy?.get("q"))];
    const toGo = whole(has.get("t")) ?? seconds;
    if (remaining === undefined || toGo === undefined) return [];
    const unit = String(policy?.get("qu") ?? REQUESTS);
    const lengthMs = seconds && seconds * 1000;
    return [{ name, limit, remaining, unit, lengthMs, ...bounds(toGo) }];
  });
  if (reports.length > 0) return reports;
  return ["X-RateLimit-", "RateLimit-"].flatMap((prefix): Report[] => {
    const limit = leadingNumber(headers.get(`${prefix}Limit`));
    const remaining = leadingNumber(headers.get(`${prefix}Remaining`));
    const toGo = secondsToGo(`${prefix}Reset`, headers, readAtMs);
    // Store Orders shows a limit of 0 where nothing was decided, as on a 401.
    if (!limit || remaining === undefined || toGo === undefined) return [];
    const name = `X-RateLimit-Limit: ${limit}`;
    return [{ name, limit, remaining, unit: REQUESTS, lengthMs: undefined, ...bounds(toGo) }];
  });
}

/** The items of a list by name, which may be a string or a token. A malformed field is as good as none. */
function itemsOf(text: string | null): readonly (readonly [name: string, has: Map<string, BareItem>])[] {
  try {
    const items = parseList(text ?? "").filter((member): member is Item => !Array.isArray(member[0]));
    return items.map(([name, parameters]) => [String(name).toLowerCase(), parameters]);
  } catch {
    return [];
  }
}

function whole(value: unknown): number | undefined {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : undefined;
}

/** Envoy sends `10, 10;w=60`. */
function leadingNumber(text: string | null): number | undefined {
  const [digits] = /^\d+/.exec(text ?? "") ?? [];
  return digits === undefined ? undefined : Number(digits);
}

/** A reset is a number of seconds to go, a time in seconds or milliseconds of 1970, or a date. */
function secondsToGo(name: string, headers: Answer["headers"], readAtMs: number): number | undefined {
  const text = headers.get(name);
  const [digits] = /^\d+(?:\.\d+)?(?=$|,)/.exec(text ?? "") ?? [];
  const number = Number(digits);
  if (number < 1e9) return number;
  const timeMs = number < 1e11 ? number * 1000 : number;
  const atMs = digits === undefined ? dateOf(text) : timeMs;
  // The server's clock when it answered.
  const nowMs = dateOf(headers.get("Date")) ?? readAtMs;
  return atMs === undefined ? undefined : Math.max(0, atMs - nowMs) / 1000;
}

function dateOf(text: string | null): number | undefined {
  // One that names its zone, of HTTP or of JavaScript.
  const atMs = /^[A-Z].* GMT|T.*(?:Z|[+-]\d\d:\d\d)$/.test(text ?? "") ? Date.parse(text ?? "") : Number.NaN;
  return Number.isNaN(atMs) ? undefined : atMs;
}
