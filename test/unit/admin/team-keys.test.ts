import { exportJWK, generateKeyPair } from "jose";
import { afterEach, beforeEach, describe, it, vi } from "vitest";
import { TeamKeys } from "../../../src/worker/admin/team-keys.ts";

const MINUTE = 60_000;
const header = { alg: "RS256", kid: "the team's" };
const token = { payload: "", signature: "" };

let answer: (init: RequestInit) => Promise<Response>;
let keySet: string;

beforeEach(async () => {
  const { publicKey } = await generateKeyPair("RS256");
  keySet = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: header.kid }] });
  answer = async () => new Response(keySet);
  vi.stubGlobal("fetch", (_url: string, init: RequestInit) => answer(init));
  vi.useFakeTimers({ now: Date.UTC(2031, 0, 1) });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function startTeamKeys() {
  const getKey = new TeamKeys("acme.cloudflareaccess.com").getKey(() => {});
  return async () => getKey(header, token);
}

describe("the keys of a team", () => {
  it("do not have a withdrawn key 10 minutes after they were read", async ({ expect }) => {
    const find = startTeamKeys();
    await find();
    answer = async () => new Response('{"keys":[]}');
    vi.advanceTimersByTime(10 * MINUTE - 1);
    await find();
    vi.advanceTimersByTime(1);
    await expect(find()).rejects.toThrow("no applicable key");
  });

  it("are not read from where a redirect leads", async ({ expect }) => {
    answer = async ({ redirect }) => new Response(keySet, { status: redirect === "manual" ? 302 : 200 });
    await expect(startTeamKeys()()).rejects.toThrow("answered with 302");
  });

  it("that do not come are an error after 5 seconds", async ({ expect }) => {
    answer = () => new Promise(() => {});
    const found = startTeamKeys()();
    const failed = expect(found).rejects.toThrow();
    await vi.advanceTimersByTimeAsync(5_000);
    await failed;
  });
});
