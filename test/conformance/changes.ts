/** What somebody does to the limiter, by the commands of the settings. */
import { admittedOf, headerOf, judge, PROMISE, type Row } from "./row.ts";
import { type Key, NotAsked, type Session, waitOf } from "./session.ts";

const BACK_WITHIN_SECONDS = 30;
const REVOKED_WITHIN_SECONDS = 1;
const REVOKED_MAX_SECONDS = 60;

async function whileAway<T>(session: Session, use: (key: Key) => Promise<T>): Promise<T> {
  const key = session.key();
  await session.run(session.settings.storeAway);
  try {
    await session.begin();
    return await use(key);
  } finally {
    await session.run(session.settings.storeBack);
    // The next row needs the store.
    await session.poll(BACK_WITHIN_SECONDS, 200, async () => (await session.ask(key)).status < 500);
  }
}

const setLimit = (session: Session, key: Key, count: number) =>
  session.run(session.settings.setLimit, key, { COUNT: String(count) });

export const CHANGES: readonly Row[] = [
  {
    id: "raised",
    sentence: "A limit that is raised in its window helps at once, and refused requests have not used it up.",
    source: PROMISE,
    needs: ["setLimit"],
    async ask(session) {
      const [key, to] = [session.key(), 2 * session.count];
      await session.begin();
      const { length } = admittedOf(await session.use(key, Math.ceil(1.5 * session.count)));
      await setLimit(session, key, to);
      const { admitted } = await session.exhaust(key);
      session.checkWindow();
      const total = length + admitted.length;
      return judge(total === to, `${length}, then ${total} of ${to}`);
    },
  },
  {
    id: "lowered",
    sentence: "A limit that is lowered in its window holds at once.",
    source: PROMISE,
    needs: ["setLimit"],
    async ask(session) {
      const [key, to] = [session.key(), Math.floor(session.count / 2)];
      await session.begin();
      await session.use(key, to + 1);
      await setLimit(session, key, to);
      const { status, isAdmitted } = await session.ask(key);
      session.checkWindow();
      return judge(!isAdmitted, `${to + 1} used, lowered to ${to}: ${status}`);
    },
  },
  {
    id: "revoked",
    sentence: `A revoked key is refused within ${REVOKED_WITHIN_SECONDS} s.`,
    source: PROMISE,
    needs: ["revoke"],
    async ask(session) {
      const key = session.key();
      await session.begin();
      if (!(await session.ask(key)).isAdmitted) throw new NotAsked("a new key was refused");
      await session.run(session.settings.revoke, key);
      let status = 0;
      // So seldom that the limit does not refuse within twice the time.
      const everyMs = Math.max(100, (2_000 * REVOKED_WITHIN_SECONDS) / (session.count - 2));
      const seconds = await session.poll(REVOKED_MAX_SECONDS, everyMs, async () => {
        const answer = await session.ask(key);
        status = answer.status;
        return !answer.isAdmitted;
      });
      const seen = seconds === undefined ? "still admitted" : `${status} after ${seconds.toFixed(1)} s`;
      return judge(seconds !== undefined && seconds <= REVOKED_WITHIN_SECONDS && status !== 429, seen);
    },
  },
  {
    id: "ban",
    sentence: "A ban refuses at once, and Retry-After is the wait until its end.",
    source: `${PROMISE}; RFC 9110, 10.2.3`,
    needs: ["ban"],
    async ask(session) {
      const { banSeconds = 2 * session.settings.limit.seconds } = session.settings;
      const key = session.key();
      await session.begin();
      await session.run(session.settings.ban, key, { BAN_SECONDS: String(banSeconds) });
      const banned = await session.ask(key);
      if (banned.isAdmitted) return judge(false, "not refused");
      if (waitOf(banned) > banSeconds + 1)
        return judge(false, `${banSeconds} s: ${headerOf(banned, "Retry-After")}`);
      await session.waitFor(banned);
      const { isAdmitted } = await session.ask(key);
      const seen = `${banSeconds} s: ${headerOf(banned, "Retry-After")}, then ${isAdmitted ? "admitted" : "refused"}`;
      return judge(isAdmitted, seen);
    },
  },
  {
    id: "restart",
    sentence: "A restart gives no request back.",
    source: PROMISE,
    needs: ["restart"],
    isAlone: true,
    async ask(session) {
      const key = session.key();
      await session.begin();
      const { length } = admittedOf(await session.use(key, Math.floor((2 * session.count) / 3)));
      await session.run(session.settings.restart);
      let more = 0;
      const back = await session.poll(BACK_WITHIN_SECONDS, 200, async () => {
        const { status, isAdmitted } = await session.ask(key);
        if (isAdmitted) more++;
        return status > 0 && status < 500;
      });
      if (back === undefined) return judge(false, "it does not answer any more");
      more += (await session.exhaust(key)).admitted.length;
      session.checkWindow();
      const seen = `${length} before, ${more} behind it, of ${session.count}`;
      return judge(length + more <= session.count, seen);
    },
  },
  {
    id: "store-away",
    sentence: "While the store is away, no more are admitted than the limit says.",
    source: PROMISE,
    needs: ["storeAway"],
    isAlone: true,
    ask: (session) =>
      whileAway(session, async (key) => {
        const answers = await session.atOnce(key, 2 * session.count);
        const { length } = admittedOf(answers);
        const statuses = [...new Set(answers.map(({ status }) => status || "no answer"))].join(", ");
        return judge(length <= session.count, `${length} of ${session.count}: ${statuses}`);
      }),
  },
  {
    id: "store-away-503",
    sentence: "Refused for that, an answer is a 503 with Retry-After.",
    source: "RFC 9110, 15.6.4",
    needs: ["storeAway"],
    isAlone: true,
    ask: (session) =>
      whileAway(session, async (key) => {
        const answer = await session.ask(key);
        if (answer.isAdmitted) throw new NotAsked("nothing is refused while the store is away");
        const isTrue = answer.status === 503 && (answer.retryAfter ?? 0) >= 1;
        return judge(isTrue, `${answer.status || "no answer"}, ${headerOf(answer, "Retry-After")}`);
      }),
  },
  {
    id: "store-back",
    sentence: `When the store is back, requests are admitted again within ${BACK_WITHIN_SECONDS} s.`,
    source: PROMISE,
    needs: ["storeBack"],
    isAlone: true,
    keys: 2,
    async ask(session) {
      await whileAway(session, (key) => session.ask(key));
      const key = session.key();
      const isAdmitted = async () => (await session.ask(key)).isAdmitted;
      const seconds = await session.poll(BACK_WITHIN_SECONDS, 500, isAdmitted);
      return judge(seconds !== undefined, seconds === undefined ? "still refused" : "admitted");
    },
  },
];
