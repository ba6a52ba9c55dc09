/** What a page offers can be done: each action of a key, in each state of the key. */
import { env } from "cloudflare:workers";
import { describe, it } from "vitest";
import { addSecret, createKey, giveKeys } from "../../support/factories.ts";
import { LIST, startApp, startEachTestAt } from "../../support/worker.ts";
import { browserWith, formOn } from "./browser.ts";

const NOON = Date.UTC(2035, 0, 1, 12);
const NOW = NOON / 1000;
const app = startApp();

startEachTestAt(NOON);

const STATES = {
  active: "",
  "with temporary limits": `temporary_requests_per_minute = 5, temporary_until = ${NOW + 43_200}`,
  "with a next plan": `next_plan = 'business', next_plan_from = ${NOW + 43_200}`,
  "at its limit": "",
  banned: `banned_until = ${NOW + 60}, ban_reason = 'abuse'`,
  disabled: "status = 'disabled'",
  expired: `expires_at = ${NOW - 60}`,
  "expired and at its limit": `expires_at = ${NOW - 60}`,
  revoked: "status = 'revoked'",
};

async function keyThatIs(state: string, set: string): Promise<string> {
  const { id, key } = await createKey({ plan: "pro" });
  await addSecret(id);
  const update = (members: string) => env.DB.exec(`update api_keys set ${members} where id = '${id}'`);
  if (state.includes("at its limit")) await update("requests_per_day = 1");
  if (state.includes("at its limit") || state === "active") await app(LIST, { key });
  if (set !== "") await update(set);
  return `/console/keys/${id}`;
}

describe("each action that the page of a key offers", () => {
  it.for(Object.entries(STATES))("can be done with a key that is %s", async ([state, set], { expect }) => {
    const { get, post } = await browserWith(env.ADMIN_TOKEN);
    const pageOf = async (path: string) => (await get(path)).text();
    const first = await keyThatIs(state, set);
    const offered = new Set((await pageOf(first)).match(new RegExp(`(?<="${first}/)[\\w-]+(?=")`, "g")));
    expect(offered.size > 0).toBe(!state.startsWith("revoked"));
    for (const action of offered) {
      const path = await keyThatIs(state, set);
      const page = await pageOf(`${path}/${action}`);
      const form = page.split("<form").find((part) => part.includes(` action="${path}/${action}"`)) ?? "";
      expect(form, action).not.toBe("");
      const { fields } = formOn(page, /<button[^>]*>([^<]*)<\/button>/.exec(form)?.[1] ?? "");
      const secret = /<option value="([0-9a-f]{16})"/.exec(page)?.[1] ?? "";
      const typed = { secret, reason: "r", sure: "true", seconds: "60", note: "n", apply: "true" };
      const { status } = await post(`${path}/${action}`, { ...fields, ...typed });
      expect([200, 303], action).toContain(status);
    }
  });
});

it("a link is offered for a customer who can have one", async ({ expect }) => {
  const { get, post } = await browserWith(env.ADMIN_TOKEN);
  for (const [status, made] of [
    ["disabled", 200],
    ["revoked", 409],
  ] as const) {
    const path = await keyThatIs(status, `status = '${status}'`);
    const links = `/console/customers/${await giveKeys(`links of ${path}`, idIn(path))}/links`;
    expect((await (await get(links)).text()).includes("Make a link"), status).toBe(made === 200);
    expect((await post(links, { days: "1" })).status, status).toBe(made);
  }
});

it("the overview and the pages of customers offer of a key only what its own page offers", async ({
  expect,
}) => {
  const { get } = await browserWith(env.ADMIN_TOKEN);
  const actionsOn = async (path: string) => (await (await get(path)).text()).match(ACTION) ?? [];
  await env.DB.exec("delete from limiters; delete from usage"); // the overview shows ten keys
  const offered = new Map<string, readonly string[]>();
  for (const [state, set] of Object.entries(STATES)) {
    const path = await keyThatIs(state, set);
    const customer = await giveKeys(`customer of ${path}`, idIn(path));
    await useMostOfEachDay(idIn(path), customer);
    offered.set(path, await actionsOn(`/console/customers/${customer}`));
  }
  const onOverview = await actionsOn("/console");
  const found: string[] = [];
  for (const [path, onCustomer] of offered) {
    const ofKey = [...onCustomer, ...onOverview].filter((link) => link.startsWith(path));
    expect(await actionsOn(path)).toEqual(expect.arrayContaining(ofKey));
    found.push(...ofKey.map((link) => link.slice(path.length)));
  }
  expect(new Set(found)).toEqual(new Set(["/edit", "/limit"]));
});

const ACTION = /\/console\/keys\/key_\w+\/\w+(?=")/g;

function idIn(path: string): string {
  return path.slice("/console/keys/".length);
}

async function useMostOfEachDay(id: string, customer: string): Promise<void> {
  const insert = env.DB.prepare(
    "insert into usage (day, key_id, customer_id, plan, admitted, refused, refused_while_banned, limit_per_day, hours) values (?, ?, ?, 'pro', 9000, 0, 0, 10000, '[]')",
  );
  const midnight = NOW - 43_200;
  await env.DB.batch(
    Array.from({ length: 30 }, (_, i) => insert.bind(midnight - (i + 1) * 86_400, id, customer)),
  );
}
