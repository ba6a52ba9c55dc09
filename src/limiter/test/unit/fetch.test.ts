/** What `limitedFetch` reads, and what its callers get. */
import { describe, it } from "vitest";
import { type LimitedFetchOptions, limitedFetch, type NotSentError } from "../../fetch.ts";
import { KnownLimits } from "../../known-limits.ts";
import { VirtualTime } from "./virtual-time.ts";

const NOW = Date.UTC(2026, 10, 21, 12);
const URL = "https://api.example/";
const DATE = new Date(NOW).toUTCString();

type Answer = { readonly status?: number; readonly headers?: Record<string, string> };

/** A server that gives these answers in turn, and then served ones without headers, each after 10 ms. */
function start(answers: readonly Answer[], options: LimitedFetchOptions = {}) {
  const time = new VirtualTime(NOW);
  const sentMs: number[] = [];
  const send = async (): Promise<Response> => {
    const { status = 200, headers = {} } = answers[sentMs.length] ?? {};
    sentMs.push(time.now() - NOW);
    await time.sleep(10);
    return new Response(null, { status, headers });
  };
  const call = limitedFetch({ fetch: send, clock: time, ...options });
  /** The status, or the kind of error. */
  const ask = (init?: RequestInit) =>
    call(URL, init).then(
      ({ status }) => status,
      (error: NotSentError | Error) => ("kind" in error ? error.kind : error.message),
    );
  return { time, sentMs, call, ask };
}

const used = { RateLimit: '"minute";r=0;t=30', "RateLimit-Policy": '"minute";q=60;w=60' };
const ofTriple = { "X-RateLimit-Limit": "10", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "30" };
const refused = { status: 429, headers: { "Retry-After": "5" } };

describe("the next request after an answer", () => {
  it.for<[what: string, waitMs: number, headers: Record<string, string>]>([
    ["without headers", 0, {}],
    [
      "of ours, whose day is used up before the minute",
      51_200_000,
      {
        RateLimit: '"minute";r=12;t=31, "day";r=0;t=51200',
        "RateLimit-Policy": '"minute";q=60;w=60, "day";q=1000;w=86400',
      },
    ],
    [
      "of ours, whose minute and day are used up",
      51_200_000,
      {
        RateLimit: '"minute";r=0;t=31, "day";r=0;t=51200',
        "RateLimit-Policy": '"minute";q=60;w=60, "day";q=1000;w=86400',
      },
    ],
    // The example in GitHub's documentation since 2013.
    [
      "of GitHub, used up",
      3_025_000,
      {
        Date: "Tue, 20 Aug 2013 14:50:41 GMT",
        "X-RateLimit-Limit": "60",
        "X-RateLimit-Remaining": "0",
        "X-RateLimit-Reset": "1377013266",
      },
    ],
    // https://developers.cloudflare.com/changelog/2025-09-03-rate-limiting-improvement has the format.
    [
      "of Cloudflare, used up",
      30_000,
      {
        "ratelimit-policy": '"default";q=1200;w=300',
        ratelimit: '"default";r=0;t=30',
      },
    ],
    [
      "of express-rate-limit, draft 8",
      42_000,
      {
        "RateLimit-Policy": '"10-in-1min"; q=10; w=60; pk=:MTI3LjAuMC4x:',
        RateLimit: '"10-in-1min"; r=0; t=42; pk=:MTI3LjAuMC4x:',
      },
    ],
    [
      "of hono-rate-limiter, draft 6",
      12_000,
      {
        "RateLimit-Policy": "10;w=60",
        "RateLimit-Limit": "10",
        "RateLimit-Remaining": "0",
        "RateLimit-Reset": "12",
      },
    ],
    [
      "of Envoy",
      7_000,
      {
        "x-ratelimit-limit": "10, 10;w=60",
        "x-ratelimit-remaining": "0",
        "x-ratelimit-reset": "7",
      },
    ],
    [
      "with milliseconds of 1970",
      4_000,
      {
        Date: DATE,
        "X-RateLimit-Limit": "10",
        "X-RateLimit-Remaining": "0",
        "X-RateLimit-Reset": String(NOW + 4_000),
      },
    ],
    ...Object.entries({
      "an HTTP date": new Date(NOW + 4_000).toUTCString(),
      "a date of JavaScript": String(new Date(NOW + 4_000)),
      "a date of ISO 8601": new Date(NOW + 4_000).toISOString(),
      "a time with a fraction": `${NOW / 1000 + 4}.000`,
      "seconds with a fraction": "3.99",
    }).map(([what, reset]): [string, number, Record<string, string>] => [
      `with ${what}, and no Date`,
      3_990,
      { "X-RateLimit-Limit": "10", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": reset },
    ]),
    ["with a duration, which cannot be read", 0, { ...ofTriple, "X-RateLimit-Reset": "6m0s" }],
    ["without a decision, as our 401", 0, { ...ofTriple, "X-RateLimit-Limit": "0" }],
    [
      "with a name that is a token, and no t",
      60_000,
      {
        RateLimit: "default;r=0",
        "RateLimit-Policy": "default;q=5;w=60",
      },
    ],
    [
      "with a broken list, and the triple",
      7_000,
      {
        RateLimit: '"minute;r=0;t=31',
        "X-RateLimit-Limit": "10",
        "X-RateLimit-Remaining": "0",
        "X-RateLimit-Reset": "7",
      },
    ],
    [
      "with a window that counts tokens",
      0,
      {
        RateLimit: '"tokens";r=1;t=31',
        "RateLimit-Policy": '"tokens";q=90000;qu="tokens";w=60',
      },
    ],
    ["of a cache", 0, { ...used, Age: "31" }],
    ["that says what remains, but not how long", 0, { RateLimit: '"minute";r=0' }],
  ])("%s waits %i ms", async ([, waitMs, headers], { expect }) => {
    const { time, sentMs, ask } = start([{ headers }], { maxWaitMs: 1e8 });
    void ask();
    await time.run();
    const answers = [ask(), ask()];
    await time.run();
    expect([await Promise.all(answers), sentMs[1]]).toEqual([[200, 200], waitMs + 10]);
  });

  it("is the first of many: they share what is left", async ({ expect }) => {
    const left = (remaining: number) => ({
      headers: { RateLimit: `"minute";r=${remaining};t=30`, "RateLimit-Policy": '"minute";q=4;w=60' },
    });
    const { time, sentMs, ask } = start([3, 2, 1, 0].map(left));
    const answers = Array.from({ length: 6 }, () => ask());
    await time.run();
    expect(await Promise.all(answers)).toEqual(Array(6).fill(200));
    expect(sentMs.slice(0, 5)).toEqual([0, 10, 10, 10, 30_010]);
  });
});

describe("what is known", () => {
  const triple = (limit: number, remaining: number, reset: number) => {
    const shown = {
      "X-RateLimit-Limit": limit,
      "X-RateLimit-Remaining": remaining,
      "X-RateLimit-Reset": reset,
    };
    const headers = new Headers(Object.entries(shown).map(([name, value]) => [name, String(value)]));
    return { status: 200, headers };
  };
  const refusal = (retryAfter?: string) => ({
    status: 429,
    headers: new Headers(retryAfter === undefined ? {} : { "Retry-After": retryAfter }),
  });
  /** After an answer at 1,000 to the request of 0. */
  function know(limit: number, remaining: number, reset: number) {
    const limits = new KnownLimits();
    limits.learn(limits.start(0), triple(limit, remaining, reset), 1_000);
    return { limits, nextMs: (atMs: number) => limits.nextTurn(atMs).atMs };
  }
  const NEVER = Number.POSITIVE_INFINITY;

  it("of a window that is over is nothing, so one request asks first", ({ expect }) => {
    const { limits, nextMs } = know(60, 59, 30);
    expect(nextMs(31_000)).toBe(31_000);
    limits.start(31_000);
    expect(nextMs(31_000)).toBe(NEVER);
  });

  it("of its end can move by a late answer, and then the request that asks is still on its way", ({
    expect,
  }) => {
    const { limits, nextMs } = know(2, 1, 30);
    const late = limits.start(25_000);
    limits.start(31_000);
    limits.learn(late, triple(2, 0, 5), 50_000);
    expect(nextMs(56_000)).toBe(NEVER);
  });

  it("is not changed by a late answer of the window before", ({ expect }) => {
    const { limits, nextMs } = know(60, 59, 30);
    const late = limits.start(30_000);
    limits.learn(limits.start(31_000), triple(60, 59, 60), 31_500);
    limits.learn(late, triple(60, 0, 1), 32_000);
    expect(nextMs(32_000)).toBe(32_000);
  });

  it("of others is not learned from own answers that overtake each other", ({ expect }) => {
    const { limits, nextMs } = know(60, 59, 30);
    const flights = Array.from({ length: 10 }, () => limits.start(1_000));
    for (const last of flights.slice(-1)) limits.learn(last, triple(60, 49, 29), 1_100);
    expect(nextMs(1_100)).toBe(1_100);
  });

  it("can become more, as when a settlement gives something back", ({ expect }) => {
    const { limits, nextMs } = know(10, 1, 30);
    limits.learn(limits.start(2_000), triple(10, 9, 29), 2_500);
    limits.start(3_000);
    expect(nextMs(3_000)).toBe(NEVER);
    const alone = know(10, 9, 30);
    alone.limits.learn(alone.limits.start(2_000), triple(10, 2, 29), 2_500);
    alone.limits.learn(alone.limits.start(3_000), triple(10, 8, 28), 3_500);
    expect(alone.nextMs(3_500)).toBe(3_500);
  });

  it("of a limit that is not named any more is forgotten with the end of its window", ({ expect }) => {
    const { limits, nextMs } = know(2, 1, 30);
    limits.learn(limits.start(32_000), triple(500, 499, 60), 32_500);
    limits.start(33_000);
    limits.start(33_000);
    expect(nextMs(33_000)).toBe(33_000);
  });

  it("of a request whose answer is lost, or says nothing, is asked for after ten seconds", ({ expect }) => {
    const lost = know(2, 1, 3_000);
    lost.limits.lose(lost.limits.start(2_000));
    const empty = know(2, 1, 3_000);
    empty.limits.learn(empty.limits.start(2_000), { status: 200, headers: new Headers() }, 2_500);
    for (const { nextMs } of [lost, empty]) expect([nextMs(3_000), nextMs(12_000)]).toEqual([12_000, 12_000]);
  });

  it("of pauses is the longest, and without Retry-After each is twice as long as the one before", ({
    expect,
  }) => {
    const { limits, nextMs } = know(60, 59, 30);
    const flights = Array.from({ length: 5 }, () => limits.start(1_000));
    const answers = [refusal(), refusal(), refusal("20"), refusal("5"), refusal()];
    const pauses = flights.map((flight, i) => {
      limits.learn(flight, answers[i] ?? refusal(), 2_000);
      return nextMs(2_000) - 2_000;
    });
    expect(pauses).toEqual([1_000, 2_000, 20_000, 20_000, 20_000]);
    limits.learn(limits.start(22_000), triple(60, 50, 9), 22_000);
    limits.learn(limits.start(22_000), refusal(), 22_000);
    expect(nextMs(22_000)).toBe(23_000);
  });
});

describe("a refused request", () => {
  it.for<[what: string, waitMs: number, answer: Answer]>([
    ["seconds", 5_000, refused],
    [
      "a date",
      5_000,
      { status: 429, headers: { Date: DATE, "Retry-After": new Date(NOW + 5_000).toUTCString() } },
    ],
    ["a 403, as GitHub", 5_000, { ...refused, status: 403 }],
    ["0, rounded down", 1_000, { status: 429, headers: { "Retry-After": "0" } }],
    ["nothing", 1_000, { status: 429 }],
    ["the end of the window", 30_000, { status: 429, headers: { ...used } }],
  ])("is sent again after what the answer says: %s", async ([, waitMs, answer], { expect }) => {
    const { time, sentMs, ask } = start([answer]);
    const answers = [ask(), ask()];
    await time.run();
    expect([await Promise.all(answers), sentMs.slice(0, 2)]).toEqual([
      [200, 200],
      [0, waitMs + 10],
    ]);
  });

  it("is sent five times again, and then the caller gets the answer", async ({ expect }) => {
    const { time, sentMs, ask } = start(Array(9).fill(refused));
    const answer = ask();
    await time.run();
    expect([await answer, sentMs.length]).toEqual([429, 6]);
  });

  const bytes = new TextEncoder().encode("{}");
  it.for<[what: string, sends: number, init: () => RequestInit]>([
    ["DELETE", 2, () => ({ method: "DELETE" })],
    ["POST of text", 2, () => ({ method: "POST", body: "{}" })],
    ["POST of bytes", 2, () => ({ method: "POST", body: bytes })],
    ["POST of a form", 2, () => ({ method: "POST", body: new FormData() })],
    ["POST of a stream", 1, () => ({ method: "POST", body: new Blob([bytes]).stream(), duplex: "half" })],
  ])("with a stream is never sent again: %s", async ([, sends, init], { expect }) => {
    const { time, sentMs, ask } = start([refused]);
    const answer = ask(init());
    await time.run();
    expect([await answer, sentMs.length]).toEqual([sends === 1 ? 429 : 200, sends]);
  });

  it("with a Request is sent again if it has no body", async ({ expect }) => {
    for (const [body, status] of [
      [null, 200],
      ["{}", 429],
    ] as const) {
      const { time, call } = start([refused]);
      const answer = call(new Request(URL, { method: "POST", body }));
      await time.run();
      expect((await answer).status).toBe(status);
    }
  });
});

describe("a caller", () => {
  it("gets an error at once if the limit is used up for longer than it can wait", async ({ expect }) => {
    const { time, sentMs, call } = start([{ headers: used }], { maxWaitMs: 20_000 });
    void call(URL);
    await time.run();
    const error = await call(URL).catch((thrown) => thrown);
    expect(error).toMatchObject({ name: "NotSentError", kind: "wait_too_long", retryAfterMs: 30_000 });
    expect(error.message).toContain("30 s");
    expect(sentMs).toEqual([0]);
  });

  it("gets the 429 at once if that asks for more than it can wait, and those who wait get an error", async ({
    expect,
  }) => {
    const { time, ask } = start([refused], { maxWaitMs: 4_000 });
    const answers = [ask(), ask()];
    await time.run(NOW + 20);
    expect(await Promise.all(answers)).toEqual([429, "wait_too_long"]);
  });

  it("gets an error when its time is up, if it could not be known before", async ({ expect }) => {
    // The first answer never comes.
    const { time, ask } = start([], { fetch: () => new Promise(() => undefined), maxWaitMs: 4_000 });
    void ask();
    const answer = ask();
    await time.run();
    expect([await answer, time.now() - NOW]).toEqual(["wait_too_long", 4_000]);
  });

  it("gets an error if too many wait, and those go on", async ({ expect }) => {
    const { time, ask } = start([{ headers: used }], { maxWaiting: 2 });
    const answers = [ask(), ask(), ask(), ask()];
    await time.run();
    expect(await Promise.all(answers)).toEqual([200, 200, 200, "too_many_waiting"]);
  });

  it("can stop waiting, and leaves its place to the next and no timer behind", async ({ expect }) => {
    const { time, sentMs, ask } = start([{ headers: used }]);
    void ask();
    await time.run();
    const [first, all] = [new AbortController(), new AbortController()];
    const answers = [ask({ signal: first.signal }), ask({ signal: all.signal }), ask({ signal: all.signal })];
    first.abort(new Error("stopped"));
    expect(await answers[0]).toBe("stopped");
    all.abort(new Error("stopped, too"));
    await time.run();
    expect([await answers[2], time.now() - NOW, sentMs]).toEqual(["stopped, too", 10, [0]]);
    expect(await ask({ signal: first.signal })).toBe("stopped");
  });

  it("gets what fetch throws, and the next one goes", async ({ expect }) => {
    const { time, call } = start([], { fetch: () => Promise.reject(new TypeError("no network")) });
    const answers = [call(URL), call(URL)].map((answer) => answer.catch((error) => error.message));
    await time.run();
    expect(await Promise.all(answers)).toEqual(["no network", "no network"]);
  });
});

it.for([{ maxWaitMs: -1 }, { maxWaitMs: 2 ** 31 }, { maxWaiting: Number.NaN }, { maxRepeats: -1 }])(
  "the options %j are an error",
  (options, { expect }) => {
    expect(() => limitedFetch(options)).toThrow(RangeError);
  },
);
