/** What an answer says. */
import type { Answer } from "./answer.ts";
import { admittedOf, DRAFT, EITHER, headerOf, judge, PROMISE, type Row, shownOf, TRIPLE } from "./row.ts";
import { NotAsked, type Outcome, type Session, TooSlow, waitOf } from "./session.ts";

const WAIT_TOLERANCE_MS = 1_500;
const YEAR_MS = 365 * 86_400_000;

/** A row about a refused answer after a third of a window, as what is over and what is left differ then. */
const ofRefusal = (row: Omit<Row, "ask">, ask: (refused: Answer, session: Session) => Outcome): Row => ({
  ...row,
  async ask(session) {
    const key = session.key();
    await session.begin();
    await session.ask(key);
    await session.until(session.windowMs / 3);
    const { refused } = await session.exhaust(key);
    return ask(refused, session);
  },
});

/** A row about the first answer of a key. */
const ofFirst = (row: Omit<Row, "ask">, ask: (answer: Answer, session: Session) => Outcome): Row => ({
  ...row,
  async ask(session) {
    await session.begin();
    return ask(await session.ask(session.key()), session);
  },
});

/** Each kind of figures on an answer of one kind. `isSuch`: whether the answer is of the kind. */
function onEach(
  id: string,
  source: string,
  asked: {
    readonly needs?: Row["needs"];
    readonly profiles?: Row["profiles"];
    readonly ask: (session: Session) => Promise<Answer>;
    readonly isSuch: (status: number) => boolean;
  },
): Row {
  const { needs, profiles = EITHER, ask, isSuch } = asked;
  return {
    id: `headers-${id}`,
    sentence: `The answer to ${id} has the same headers as a 200.`.replace(/answer to (\d+)/, "$1"),
    source,
    profiles,
    ...(needs && { needs }),
    async ask(session) {
      await session.begin();
      const answer = await ask(session);
      if (!isSuch(answer.status)) throw new NotAsked(`it is a ${answer.status}`);
      const asks = profiles.filter((profile) => session.settings.profiles.includes(profile));
      const absent = asks.flatMap((profile) => NAMES[profile]).filter((name) => !answer.headers.has(name));
      const seen = absent.length === 0 ? "has all" : `has no ${absent.join(", ")}`;
      return judge(absent.length === 0, `a ${answer.status} ${seen}`);
    },
  };
}

const secondsAhead = (ms: number) => (ms < -YEAR_MS ? "years behind" : `${(ms / 1000).toFixed(1)} s ahead`);

const NAMES = {
  triple: ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"],
  draft: ["RateLimit-Policy", "RateLimit"],
};

const is = (expected: number) => (status: number) => status === expected;

export const HEADERS: readonly Row[] = [
  ofRefusal({ id: "429", sentence: "A refusal is a 429.", source: "RFC 6585, 4" }, ({ status }) =>
    judge(status === 429, String(status)),
  ),
  ofRefusal(
    { id: "explains", sentence: "A refusal explains itself: it has a body.", source: "RFC 6585, 4" },
    ({ body }) => judge(body !== "", `a body of ${body.length} characters`),
  ),
  ofRefusal(
    { id: "not-stored", sentence: "No cache may be told to store a refusal.", source: "RFC 6585, 4" },
    (refused) => {
      const control = refused.headers.get("Cache-Control") ?? "";
      const isStored = /public|(?:max-age|s-maxage)=[1-9]/.test(control) && !/no-store/.test(control);
      return judge(!isStored, headerOf(refused, "Cache-Control"));
    },
  ),
  ofRefusal(
    {
      id: "retry-after",
      sentence: "A refusal has Retry-After, in whole seconds from 1 on, or as a date.",
      source: `${PROMISE}; RFC 9110, 10.2.3`,
    },
    (refused) => judge((refused.retryAfter ?? 0) > 0, headerOf(refused, "Retry-After")),
  ),
  ofFirst(
    {
      id: "triple",
      sentence: "X-RateLimit-Limit, -Remaining and -Reset are whole numbers.",
      source: TRIPLE,
      profiles: ["triple"],
    },
    (answer) => {
      const texts = ["Limit", "Remaining", "Reset"].map((name) => answer.headers.get(`X-RateLimit-${name}`));
      return judge(
        answer.shown.some(({ profile }) => profile === "triple"),
        texts.map((text) => text ?? "absent").join(" "),
      );
    },
  ),
  ofFirst(
    {
      id: "draft",
      sentence: "RateLimit and RateLimit-Policy are lists of strings with whole r, t, q and w.",
      source: `${DRAFT}, 3 and 4; RFC 9651`,
      profiles: ["draft"],
    },
    (answer) =>
      judge(
        answer.shown.some(({ profile }) => profile === "draft"),
        `${headerOf(answer, "RateLimit-Policy")}; ${headerOf(answer, "RateLimit")}`,
      ),
  ),
  ofFirst(
    {
      id: "limit-shown",
      sentence: "The limit that is shown is the limit, and so is its window.",
      source: `${TRIPLE}; ${DRAFT}, 3.1`,
      profiles: EITHER,
    },
    (answer, session) => {
      const shown = shownOf(session, answer);
      const { count, seconds: window } = session.settings.limit;
      const isTrue = shown.every(({ limit, seconds = window }) => limit === count && seconds === window);
      return judge(isTrue, shown.map(({ limit, seconds = window }) => `${limit} in ${seconds} s`).join(", "));
    },
  ),
  {
    id: "remaining",
    sentence: "One after another, each answer shows what is left after its own request.",
    source: `${TRIPLE}; ${DRAFT}, 4.1`,
    profiles: EITHER,
    async ask(session) {
      await session.begin();
      const { admitted, refused } = await session.exhaust(session.key());
      session.checkWindow();
      const all = admitted.map((answer) => shownOf(session, answer).map(({ remaining }) => remaining));
      all.push(refused.shown.map(({ remaining }) => remaining));
      // A limit that comes back bit by bit has more meanwhile.
      const isWithin = (back: (i: number) => number) =>
        all.every((shown, i) => {
          const left = Math.max(0, session.count - 1 - i);
          return shown.every((each) => each >= left && each <= left + back(i));
        });
      const isTrue = isWithin(() => 0);
      if (!isTrue && isWithin((i) => session.backBetween(admitted[0], admitted[i]))) throw new TooSlow();
      return judge(isTrue, [all[0], all[1], all.at(-1)].join(", ").replace(/, (\S+)$/, " … $1"));
    },
  },
  {
    id: "remaining-at-once",
    sentence: "At once, no two answers show the same rest.",
    source: PROMISE,
    profiles: EITHER,
    async ask(session) {
      await session.begin();
      const admitted = admittedOf(await session.atOnce(session.key(), session.count + 1));
      session.checkWindow();
      if (admitted.length > session.count) throw new NotAsked("more are admitted than the limit says");
      const counts = session.settings.profiles.map((profile) => {
        const rests = admitted.flatMap(({ shown }) => shown.filter((each) => each.profile === profile));
        return { all: rests.length, different: new Set(rests.map(({ remaining }) => remaining)).size };
      });
      const seen = counts.map(({ all, different }) => `${different} different in ${all}`).join(", ");
      return judge(
        counts.every(({ all, different }) => different === all),
        seen,
      );
    },
  },
  {
    id: "reset",
    sentence:
      "The reset of an admitted answer is within its window: the limit is whole then, and not before.",
    source: `${TRIPLE}; ${DRAFT}, 4.1`,
    profiles: EITHER,
    keys: 2,
    async ask(session) {
      const [key, hasty] = [session.key(), session.key()];
      await session.begin();
      const [first] = shownOf(session, await session.ask(key));
      await session.ask(hasty);
      await session.until(session.windowMs / 3);
      await session.ask(hasty);
      const answer = await session.ask(key);
      const shown = shownOf(session, answer);
      const waits = shown.map(({ resetAtMs }) => resetAtMs - answer.readAtMs);
      const seen = waits.map(secondsAhead).join(" and ");
      // The answer may have been long on its way.
      const earliest = answer.sentAtMs - answer.readAtMs - WAIT_TOLERANCE_MS;
      if (waits.some((wait) => wait < earliest || wait > session.windowMs + WAIT_TOLERANCE_MS))
        return judge(false, seen);
      const earlyMs = Math.min(...waits) - WAIT_TOLERANCE_MS;
      if (earlyMs > 0) {
        await session.untilAfter(answer, earlyMs);
        const early = await session.ask(hasty);
        const [before] = shownOf(session, early);
        if (early.readAtMs > answer.sentAtMs + earlyMs + 1_000) throw new TooSlow();
        if (before?.remaining === first?.remaining) return judge(false, `${seen}, and it is whole before`);
      }
      await session.untilAfter(answer, Math.max(...waits) + 100);
      const [later] = shownOf(session, await session.ask(key));
      return judge(later?.remaining === first?.remaining, `${seen}, then ${later?.remaining} left`);
    },
  },
  ofRefusal(
    {
      id: "waits-agree",
      sentence: "On a refusal, Retry-After and the reset name the same moment.",
      source: `${TRIPLE}; ${DRAFT}, 6`,
      profiles: EITHER,
    },
    (refused, session) => {
      const wait = waitOf(refused);
      if (refused.readAtMs - refused.sentAtMs > WAIT_TOLERANCE_MS / 3) throw new TooSlow();
      const resets = shownOf(session, refused).map(({ resetAtMs }) => resetAtMs - refused.readAtMs);
      const isSame = resets.every((reset) => Math.abs(reset - wait * 1000) <= WAIT_TOLERANCE_MS);
      const seen = resets.map(secondsAhead).join(" and ");
      return judge(isSame, `Retry-After: ${wait}, the reset is ${seen}`);
    },
  ),
  onEach("429", PROMISE, {
    ask: async (session) => (await session.exhaust(session.key())).refused,
    isSuch: (status) => status >= 400,
  }),
  onEach("304", "RFC 9110, 15.4.5", {
    ask: async (session) => {
      const key = session.key();
      const etag = (await session.ask(key)).headers.get("ETag");
      if (etag === null) throw new NotAsked("the 200 has no ETag");
      // Without Cache-Control, fetch asks for an answer that is no 304.
      return session.ask(key, session.settings.ok, { "If-None-Match": etag, "Cache-Control": "max-age=0" });
    },
    isSuch: is(304),
  }),
  onEach("404", PROMISE, {
    needs: ["notFound"],
    ask: (session) => session.ask(session.key(), session.settings.notFound),
    isSuch: is(404),
  }),
  onEach("405", PROMISE, {
    needs: ["wrongMethod"],
    ask: (session) => session.ask(session.key(), session.settings.wrongMethod),
    isSuch: is(405),
  }),
  // The draft has no figures for whom no limit is known.
  onEach("401", PROMISE, {
    needs: ["unauthorized"],
    profiles: ["triple"],
    ask: (session) => session.ask("none", session.settings.unauthorized),
    isSuch: is(401),
  }),
  onEach("HEAD", "RFC 9110, 9.3.2", {
    ask: (session) => session.askBy("HEAD", session.key()),
    isSuch: is(200),
  }),
  onEach("OPTIONS", PROMISE, {
    ask: (session) => session.askBy("OPTIONS", session.key()),
    isSuch: () => true,
  }),
];
