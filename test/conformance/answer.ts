/** What an answer says about a limit: `Retry-After`, and the figures of either kind of header. */
import { type Item, parseList } from "structured-headers";
import type { Profile } from "./settings.ts";

export type Sent = { readonly status: number; readonly headers: Headers; readonly body: string };

export type Shown = {
  readonly profile: Profile;
  readonly limit: number;
  readonly remaining: number;
  /** Of the draft only. */
  readonly seconds?: number;
  readonly resetAtMs: number;
};

export type Answer = Sent & {
  readonly sentAtMs: number;
  readonly readAtMs: number;
  readonly isAdmitted: boolean;
  /** Undefined if it is absent, or neither whole seconds nor a date (RFC 9110, 10.2.3). */
  readonly retryAfter: number | undefined;
  /** What can be read, of each kind that was found. */
  readonly shown: readonly Shown[];
};

/** `seconds`: the window of which a draft's list is read, if it has several. */
export function answerOf(sent: Sent, sentAtMs: number, readAtMs: number, seconds: number): Answer {
  const { status, headers } = sent;
  return {
    ...sent,
    sentAtMs,
    readAtMs,
    isAdmitted: status >= 200 && status < 400,
    retryAfter: retryAfterOf(headers.get("Retry-After"), sentAtMs),
    shown: [tripleOf(headers), draftOf(headers, readAtMs, seconds)].filter((each) => each !== undefined),
  };
}

function retryAfterOf(text: string | null, sentAtMs: number): number | undefined {
  if (text === null) return undefined;
  if (/^\d+$/.test(text)) return Number(text);
  const atMs = /^[A-Z][a-z]{2}, .+ GMT$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(atMs) ? undefined : (atMs - sentAtMs) / 1000;
}

/** Three whole numbers; the last one is a time in seconds of 1970, as GitHub documents it. */
function tripleOf(headers: Headers): Shown | undefined {
  const texts = ["Limit", "Remaining", "Reset"].map((name) => headers.get(`X-RateLimit-${name}`) ?? "");
  if (!texts.every((text) => /^\d+$/.test(text))) return undefined;
  const [limit = 0, remaining = 0, reset = 0] = texts.map(Number);
  return { profile: "triple", limit, remaining, resetAtMs: reset * 1000 };
}

/** Drafts 8 to 11: two lists of strings (RFC 9651) with whole parameters, and the same names in both. */
function draftOf(headers: Headers, readAtMs: number, seconds: number): Shown | undefined {
  const [policies, states] = ["RateLimit-Policy", "RateLimit"].map((name) => itemsOf(headers.get(name)));
  if (!policies?.length || !states?.length) return undefined;
  const policyOf = ([name]: Item) => policies.find((policy) => policy[0] === name);
  const windowOf = (item: Item) => policyOf(item)?.[1].get("w");
  if (!states.every((item) => policyOf(item) !== undefined)) return undefined;
  const state = states.find((item) => windowOf(item) === seconds) ?? states[0];
  const [limit, window, remaining, reset] = [
    state && policyOf(state)?.[1].get("q"),
    state && windowOf(state),
    state?.[1].get("r"),
    state?.[1].get("t"),
  ];
  if (!isWhole(limit) || !isWhole(window) || !isWhole(remaining) || !isWhole(reset)) return undefined;
  return { profile: "draft", limit, remaining, seconds: window, resetAtMs: readAtMs + reset * 1000 };
}

const isWhole = (value: unknown): value is number => Number.isInteger(value) && Number(value) >= 0;

function itemsOf(text: string | null): Item[] {
  try {
    const list = text === null ? [] : parseList(text);
    const items = list.filter((member): member is Item => typeof member[0] === "string");
    return items.length === list.length ? items : [];
  } catch {
    return [];
  }
}
