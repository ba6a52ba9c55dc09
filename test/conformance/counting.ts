/** What is admitted, and when again. */
import type { Answer } from "./answer.ts";
import { admittedOf, judge, PROMISE, type Row } from "./row.ts";
import { type Key, NotAsked, type Outcome, type Session, TooSlow, waitOf } from "./session.ts";

/** The second window of `longer`: the answers behind the border of the first. */
async function inSecondWindow(session: Session, refusals: number) {
  const { longer } = session.settings;
  const key = session.key();
  await session.begin(longer?.seconds);
  const first = await session.use(key, session.count);
  const used = admittedOf(first).length;
  await session.use(key, refusals);
  session.checkWindow();
  await session.untilAfter(first[0], session.windowMs + 200);
  const { admitted, refused } = await session.exhaust(key);
  const left = (longer?.count ?? 0) - used;
  return { refused, admitted: admitted.length, left, seen: `${admitted.length} more of ${left}` };
}

/** A limit that comes back bit by bit can admit more on a slow machine. */
function judgeCount(session: Session, answers: readonly Answer[], least = session.count): Outcome {
  session.checkWindow();
  const { length } = admittedOf(answers);
  const back = session.backBetween(answers[0]);
  if (length > session.count && length <= session.count + back) throw new TooSlow();
  const isKept = length >= least && length <= session.count;
  return judge(isKept, `${length} of ${session.count}, asked ${answers.length}`);
}

/** Refused at this time after the beginning, the key waits as it is told. */
async function retriedAfter(session: Session, atMs: number): Promise<boolean> {
  const key = session.key();
  await session.until(atMs);
  const { refused } = await session.exhaust(key);
  await session.waitFor(refused);
  return (await session.ask(key)).isAdmitted;
}

export const COUNTING: readonly Row[] = [
  {
    id: "limit",
    sentence:
      "One after another, as many requests are admitted as the limit says, and no more of one that goes on.",
    source: PROMISE,
    async ask(session) {
      await session.begin();
      return judgeCount(session, await session.use(session.key(), 2 * session.count));
    },
  },
  {
    id: "at-once",
    sentence: "At once, over several connections, no more are admitted than the limit says.",
    source: PROMISE,
    async ask(session) {
      await session.begin();
      return judgeCount(session, await session.atOnce(session.key(), 3 * session.count), 0);
    },
  },
  {
    id: "head",
    sentence: "A HEAD counts as a GET does.",
    source: PROMISE,
    async ask(session) {
      const key = session.key();
      await session.begin();
      const first = await session.askBy("HEAD", key);
      if (!first.isAdmitted) throw new NotAsked(`it is a ${first.status}`);
      for (let heads = 1; heads < session.count; heads++) await session.askBy("HEAD", key);
      const { length } = admittedOf(await session.use(key, session.count));
      session.checkWindow();
      const seen = `after ${session.count} HEADs: ${length} of ${session.count}`;
      return judge(length <= session.backBetween(first), seen);
    },
  },
  {
    id: "other-key",
    sentence: "A key whose limit is used up takes nothing from another key.",
    source: PROMISE,
    keys: 2,
    async ask(session) {
      await session.begin();
      await session.exhaust(session.key());
      const { status, isAdmitted } = await session.ask(session.key());
      return judge(isAdmitted, `the other key: ${status}`);
    },
  },
  {
    id: "no-key",
    sentence: "Requests without a key are refused or share a limit: never unlimited, never a 500.",
    source: "RFC 9110, 15.6.1",
    async ask(session) {
      await session.begin();
      const seen: string[] = [];
      let isKept = true;
      for (const key of ["none", "empty"] as const) {
        const answers = await session.use(key, 2 * session.count);
        session.checkWindow();
        const statuses = [...new Set(answers.map(({ status }) => status))];
        isKept &&= admittedOf(answers).length <= session.count && statuses.every((status) => status < 500);
        seen.push(`${key}: ${statuses.join(", ")}, ${admittedOf(answers).length} admitted`);
      }
      return judge(isKept, seen.join("; "));
    },
  },
  {
    id: "on-time",
    sentence: "A request is admitted after exactly the wait of Retry-After.",
    source: "RFC 9110, 10.2.3",
    keys: 2,
    async ask(session) {
      await session.begin();
      const retried = [await retriedAfter(session, 0)];
      await session.begin();
      retried.push(await retriedAfter(session, session.windowMs / 2 - AROUND_MS));
      const seen = retried.map((isAdmitted) => (isAdmitted ? "admitted" : "refused again"));
      return judge(!retried.includes(false), `refused early: ${seen[0]}; in the middle: ${seen[1]}`);
    },
  },
  {
    id: "last-second",
    sentence: "Retry-After is at least 1 in the last second of a window, and is true there, too.",
    source: "RFC 9110, 10.2.3",
    async ask(session) {
      const key = session.key();
      await session.begin();
      await session.use(key, session.count);
      await session.until(session.windowMs - 400);
      const refused = await session.ask(key);
      if (refused.isAdmitted) throw new TooSlow();
      await session.waitFor(refused);
      const { isAdmitted } = await session.ask(key);
      const seen = `Retry-After: ${waitOf(refused)}, then ${isAdmitted ? "admitted" : "refused"}`;
      return judge(Math.ceil(waitOf(refused)) >= 1 && isAdmitted, seen);
    },
  },
  {
    id: "early",
    sentence: "One second before the wait of Retry-After is over, a request is still refused.",
    source: PROMISE,
    async ask(session) {
      const key = session.key();
      await session.begin();
      const { refused } = await session.exhaust(key);
      await session.waitAlmost(refused, 1000 + AROUND_MS);
      const early = await session.ask(key);
      const wait = waitOf(refused);
      if (early.readAtMs > refused.sentAtMs + wait * 1000 - 1000) throw new TooSlow();
      return judge(!early.isAdmitted, `Retry-After: ${wait}, ${early.status} a second before`);
    },
  },
  {
    id: "refusal-cost",
    sentence: "A refused request costs nothing: the next window is as large as without it.",
    source: PROMISE,
    keys: 2,
    async ask(session) {
      const [patient, other] = [session.key(), session.key()];
      await session.begin();
      await session.use(other, session.count);
      const used = await session.use(patient, session.count);
      await session.until(session.windowMs / 2);
      // A limit that comes back bit by bit has some by now.
      const more = admittedOf(await session.use(other, session.count)).length;
      session.checkWindow();
      await session.untilAfter(used.at(-1), session.windowMs + 200);
      const again = async (key: Key) => admittedOf(await session.use(key, session.count)).length;
      const [without, afterRefusals] = [await again(patient), await again(other)];
      if (without === 0) throw new TooSlow();
      return judge(afterRefusals + more >= without, `${afterRefusals} after refusals, ${without} without`);
    },
  },
  {
    id: "too-fast",
    sentence: "A client that is 5 % too fast gets at least nine tenths of its limit.",
    source: PROMISE,
    async ask(session) {
      await session.begin();
      const answers = await session.pace(session.key(), 1.05, 2);
      const { length } = admittedOf(answers);
      return judge(
        length >= Math.floor(0.9 * 2 * session.count),
        `${length} of ${answers.length} in two windows`,
      );
    },
  },
  {
    id: "goes-on",
    sentence: "A client that goes on a third too fast is admitted again: half of its limit, or more.",
    source: PROMISE,
    async ask(session) {
      await session.begin();
      const answers = await session.pace(session.key(), 4 / 3, 3);
      const last = answers.slice(-Math.floor(answers.length / 3));
      const { length } = admittedOf(last);
      return judge(length >= session.count / 2, `${length} of ${last.length} in the third window`);
    },
  },
  {
    id: "longer",
    sentence: "A longer window refuses when its own limit is used up.",
    source: PROMISE,
    needs: ["longer"],
    async ask(session) {
      const { admitted, left, seen } = await inSecondWindow(session, 0);
      return judge(admitted <= left, seen);
    },
  },
  {
    id: "longer-wait",
    sentence: "Refused by the longer window, Retry-After is the longer window's wait.",
    source: `${PROMISE}; RFC 9110, 10.2.3`,
    needs: ["longer"],
    async ask(session) {
      const { refused, admitted, left, seen } = await inSecondWindow(session, 0);
      if (admitted > left) return { verdict: "not asked", seen };
      const wait = waitOf(refused);
      const most = session.settings.longer?.seconds ?? 0;
      return judge(wait * 1000 > session.windowMs && wait <= most, `Retry-After: ${wait}`);
    },
  },
  {
    id: "no-leak",
    sentence: "What the shorter window refuses does not count in the longer one.",
    source: PROMISE,
    needs: ["longer"],
    async ask(session) {
      const { admitted, left, seen } = await inSecondWindow(session, session.settings.longer?.count ?? 0);
      return judge(admitted >= left, seen);
    },
  },
  {
    id: "costly",
    sentence: "A request that costs more than the limit is refused, and counts nothing.",
    source: PROMISE,
    needs: ["costly"],
    keys: 2,
    async ask(session) {
      const [key, other] = [session.key(), session.key()];
      await session.begin();
      const { status, isAdmitted } = await session.ask(key, session.settings.costly);
      const left = admittedOf(await session.use(key, session.count)).length;
      const without = admittedOf(await session.use(other, session.count)).length;
      session.checkWindow();
      return judge(!isAdmitted && left >= without, `${status}, then ${left} of ${without}`);
    },
  },
  {
    id: "costly-wait",
    sentence: "It has no Retry-After, as no wait helps.",
    source: PROMISE,
    needs: ["costly"],
    async ask(session) {
      const { headers } = await session.ask(session.key(), session.settings.costly);
      return judge(!headers.has("Retry-After"), `Retry-After: ${headers.get("Retry-After") ?? "absent"}`);
    },
  },
];

/** On either side of a moment, for a machine that is busy. */
const AROUND_MS = 100;
