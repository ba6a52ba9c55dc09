/**
 * The house's rules (design: index → app → rooms → ground floor). The lists are data; a new file or room falls under
 * the rules without being named here.
 */
import { describe, it } from "vitest";
import { codeOf, filesUnder, headerOf, readSources, readText, type Source } from "../support/sources.ts";

const sources = readSources();

/** What every room stands on. Whatever else lies in a folder of its own is a room. */
const GROUND_FLOOR = ["db", "errors", "env", "log", "fence", "lifecycle", "time", "validation"];

/** May be read by more than one room, and says so in its header. */
const pureFiles = new Set(
  sources.filter(({ text }) => /\bPure\b/.test(headerOf(text))).map(({ path }) => path),
);

/** These must say so: what they decide is what a mistake would be expensive in. */
const MUST_BE_PURE = [
  "db/values.ts",
  "keys/key-cache.ts",
  "keys/key-format.ts",
  "keys/key-record.ts",
  "limits/ban.ts",
  "limits/decide.ts",
  "limits/housekeeping.ts",
  "limits/limiter-state.ts",
  "limits/quota.ts",
  "limits/rate-limit-headers.ts",
  "limits/reservation.ts",
  "orders/int64.ts",
  "orders/order-line.ts",
  "orders/ship-date.ts",
  "time.ts",
];

/** Packages that keep a file pure: values in, values out. */
const PURE_PACKAGES = ["valibot"];

type Arrow = { readonly from: string; readonly to: string; readonly isTypeOnly: boolean };

/** The doors between rooms. Everything else that a room imports is its own, or lies on the ground floor. */
const DOORS: { readonly why: string; readonly opens: (arrow: Arrow) => boolean }[] = [
  {
    why: "limits and orders are told who is calling",
    opens: ({ from, to, isTypeOnly }) =>
      ["limits", "orders"].includes(roomOf(from)) && to === "keys/key-record.ts" && isTypeOnly,
  },
  {
    why: "the operator works on every room's rows, through that room's own statements",
    opens: ({ from, to }) => roomOf(from) === "admin" && /-(store|records)\.ts$/.test(to),
  },
  {
    why: "the operator speaks to the limiters, through the limits' own callers",
    opens: ({ from, to }) => roomOf(from) === "admin" && /^limits\/limiter-(client|operator)\.ts$/.test(to),
  },
  {
    why: "the operator, the documents and the command line know the service's values and rules",
    opens: ({ from, to }) => ["admin", "docs", "cli"].includes(roomOf(from)) && pureFiles.has(to),
  },
  {
    why: "the documents and the command line know the shapes of what is answered",
    opens: ({ from, isTypeOnly }) => ["docs", "cli"].includes(roomOf(from)) && isTypeOnly,
  },
];

/** `keys` for `keys/key-record.ts`, `errors` for `errors.ts`. */
function roomOf(path: string): string {
  return path.includes("/") ? path.slice(0, path.indexOf("/")) : path.replace(/\.ts$/, "");
}

function isAllowed(arrow: Arrow): boolean {
  const [from, to] = [roomOf(arrow.from), roomOf(arrow.to)];
  if (from === "index") return arrow.to === "app.ts" || GROUND_FLOOR.includes(to) || exportsTheObject(arrow);
  if (from === "app") return to !== "index" && to !== "cli";
  if (GROUND_FLOOR.includes(from)) return GROUND_FLOOR.includes(to);
  if (from === "cli") return to === "cli" || DOORS.some((door) => door.opens(arrow));
  return from === to || GROUND_FLOOR.includes(to) || DOORS.some((door) => door.opens(arrow));
}

/** The platform finds a Durable Object's class among the entry's exports. */
function exportsTheObject({ to }: Arrow): boolean {
  return to === "limits/key-limiter.ts";
}

function arrowsOf({ path, imports }: Source): Arrow[] {
  return imports.filter(({ isOurs }) => isOurs).map((each) => ({ from: path, ...each }));
}

/** The files outside src/cli whose code matches although they may not. */
function offenders(pattern: RegExp, mayMatch: (path: string) => boolean): string[] {
  return sources
    .filter(({ path, text }) => roomOf(path) !== "cli" && !mayMatch(path) && pattern.test(codeOf(text)))
    .map(({ path }) => path);
}

describe("the arrows between files", () => {
  it("run index → app → rooms → ground floor, and between rooms only through the doors", ({ expect }) => {
    const wrong = sources.flatMap(arrowsOf).filter((arrow) => !isAllowed(arrow));
    expect(wrong).toEqual([]);
  });

  it("use every door: one that nobody needs is closed", ({ expect }) => {
    const arrows = sources.flatMap(arrowsOf).filter(({ from, to }) => roomOf(from) !== roomOf(to));
    for (const { why, opens } of DOORS) expect(arrows.some(opens), why).toBe(true);
  });

  it("never run in a circle", ({ expect }) => {
    const targets = new Map(
      sources.map((source) => [source.path, arrowsOf(source).filter((a) => !a.isTypeOnly)]),
    );
    const done = new Set<string>();
    const circles: string[] = [];
    const visit = (path: string, trail: readonly string[]) => {
      if (trail.includes(path)) circles.push([...trail.slice(trail.indexOf(path)), path].join(" → "));
      if (trail.includes(path) || done.has(path)) return;
      for (const { to } of targets.get(path) ?? []) visit(to, [...trail, path]);
      done.add(path);
    };
    for (const { path } of sources) visit(path, []);
    expect(circles).toEqual([]);
  });

  it("lead to files that exist, named with their ending", ({ expect }) => {
    const paths = new Set(sources.map(({ path }) => path));
    const arrows = sources.flatMap(arrowsOf);
    expect(arrows.length).toBeGreaterThan(50);
    expect(arrows.filter(({ to }) => !paths.has(to))).toEqual([]);
  });
});

describe("a pure file", () => {
  it("is each of those whose mistakes would be expensive", ({ expect }) => {
    expect(MUST_BE_PURE.filter((path) => !pureFiles.has(path))).toEqual([]);
  });

  for (const path of pureFiles) {
    const source = sources.find((each) => each.path === path);
    if (!source) continue;

    it(`${path} imports nothing but what is pure`, ({ expect }) => {
      expect(source.imports.filter(({ to }) => !pureFiles.has(to) && !PURE_PACKAGES.includes(to))).toEqual(
        [],
      );
    });

    it(`${path} reads no clock, draws nothing, calls nobody and knows no platform`, ({ expect }) => {
      const impure =
        /Date\.now|new Date\(\s*\)|\bDate\(\s*\)|Math\.random|\bcrypto\b|\bfetch\b|\bsetTimeout\b|\bconsole\b|\bprocess\b|cloudflare|\b(?:D1|DurableObject|SqlStorage|KVNamespace|R2|ExecutionContext|Request|Response|Headers)\w*/;
      expect(codeOf(source.text).match(impure)?.[0]).toBeUndefined();
    });
  }
});

describe("what only certain files touch", () => {
  it("drizzle: *-records, *-store and db", ({ expect }) => {
    const mayMatch = (path: string) => roomOf(path) === "db" || /-(records|store)\.ts$/.test(path);
    expect(offenders(/"drizzle-orm/, mayMatch)).toEqual([]);
  });

  it("the database's binding: db opens it, env declares it, and nobody else speaks to it", ({ expect }) => {
    expect(offenders(/\bD1Database\b/, (path) => roomOf(path) === "db" || path === "env.ts")).toEqual([]);
    expect(offenders(/\.DB\b(?!\))/, () => false)).toEqual([]);
  });

  it("Hono: app, middleware and routes", ({ expect }) => {
    const middleware = [
      "keys/authenticate.ts",
      "limits/enforce-limit.ts",
      "admin/require-admin.ts",
      "admin/validation.ts",
    ];
    const mayMatch = (path: string) =>
      path === "app.ts" || middleware.includes(path) || /(^|[-/])routes\.ts$/.test(path);
    expect(offenders(/"(?:hono|@hono)\b/, mayMatch)).toEqual([]);
  });

  it("a limiter's SQLite: limiter-storage", ({ expect }) => {
    const mayMatch = (path: string) => path === "limits/limiter-storage.ts";
    expect(offenders(/\bsql\.exec\b|SqlStorage\b/, mayMatch)).toEqual([]);
  });

  it("the runtime's own module: the Durable Object", ({ expect }) => {
    expect(offenders(/"cloudflare:/, (path) => path === "limits/key-limiter.ts")).toEqual([]);
  });

  it("the console: the log", ({ expect }) => {
    expect(offenders(/\bconsole\./, (path) => path === "log.ts")).toEqual([]);
  });

  it("Node: the command line", ({ expect }) => {
    expect(offenders(/"node:|\bprocess\.|\bBuffer\b/, () => false)).toEqual([]);
  });
});

describe("every test file", () => {
  it("has at most 400 lines", ({ expect }) => {
    const lines = filesUnder("test", ".ts").map((file) => ({
      file,
      lines: readText(file).split("\n").length - 1,
    }));
    expect(lines.filter((each) => each.lines > 400)).toEqual([]);
  });
});

describe("every source file", () => {
  it("begins with a comment that says what it is", ({ expect }) => {
    expect(sources.filter(({ text }) => headerOf(text) === "").map(({ path }) => path)).toEqual([]);
  });

  it("has at most 250 lines", ({ expect }) => {
    const long = sources.map(({ path, text }) => ({ path, lines: text.split("\n").length - 1 }));
    expect(long.filter(({ lines }) => lines > 250)).toEqual([]);
  });
});
