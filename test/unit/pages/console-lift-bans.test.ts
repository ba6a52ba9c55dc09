/** The console's lifting of several bans, against an admin API that answers in turn. */
import { afterEach, describe, it, vi } from "vitest";
import { adminClient } from "../../../src/pages/console/admin-client.ts";
import { liftBans } from "../../../src/pages/console/bans/lift-bans.ts";

afterEach(() => {
  vi.unstubAllGlobals();
});

const CONFLICT = { status: 409, body: { message: "This ban is not live any more." } };
const UNAVAILABLE = { status: 503, body: {} };
const lifted = (id: string) => ({
  status: 200,
  body: { lifted: { id }, liftedAll: true, effective: "immediately" },
});

function lift(answers: { status: number; body: object }[]) {
  const sent: unknown[] = [];
  vi.stubGlobal("fetch", async (_url: string, { body }: { body: string }) => {
    sent.push(JSON.parse(body));
    const answer = answers[sent.length - 1];
    return Response.json(answer?.body, { status: answer?.status ?? 500 });
  });
  const client = adminClient({ token: "a token", operator: "" });
  const bans = [{ id: "ban_1" }, { id: "ban_2" }];
  return { sent, lifting: liftBans(client, { keyId: "key_1", bans, forgive: true }) };
}

describe("lifting two bans", () => {
  it("names each, and has the last answer", async ({ expect }) => {
    const { sent, lifting } = lift([lifted("ban_1"), lifted("ban_2")]);
    expect(await lifting).toMatchObject({ lifted: { id: "ban_2" } });
    expect(sent).toEqual([
      { forgive: true, ban: "ban_1" },
      { forgive: true, ban: "ban_2" },
    ]);
  });

  it("is done if the second one has ended meanwhile", async ({ expect }) => {
    expect(await lift([lifted("ban_1"), CONFLICT]).lifting).toMatchObject({ lifted: { id: "ban_1" } });
  });

  it("goes on after a lift that the browser has sent twice, and was made", async ({ expect }) => {
    const made = { status: 409, body: { code: "repeated_call", message: "It was made." } };
    expect(await lift([made, lifted("ban_2")]).lifting).toMatchObject({ lifted: { id: "ban_2" } });
    expect(await lift([lifted("ban_1"), made]).lifting).toMatchObject({ lifted: { id: "ban_1" } });
    await expect(lift([made, made]).lifting).rejects.toMatchObject({ kind: "made", message: "It was made." });
  });

  it("says that the first one is lifted if the second one fails", async ({ expect }) => {
    const body = { message: "It is not known. Nothing was changed." };
    await expect(lift([lifted("ban_1"), { status: 503, body }]).lifting).rejects.toMatchObject({
      kind: "failed",
      message: "One ban is lifted. Of the other one: It is not known. Nothing was changed.",
    });
  });

  it("takes an answer without the ban or its effect for none of the service", async ({ expect }) => {
    for (const body of [{ effective: "immediately" }, { lifted: null }]) {
      const answer = { status: 200, body };
      await expect(lift([answer, answer]).lifting).rejects.toMatchObject({ kind: "unreachable" });
    }
  });

  it("ends at the first one if that is not live any more, and at any other failure", async ({ expect }) => {
    const { sent, lifting } = lift([CONFLICT]);
    const advice = expect.stringMatching(
      /^An earlier try of yours .* may have lifted it\. This try did nothing\./,
    );
    await expect(lifting).rejects.toMatchObject({ kind: "failed", message: CONFLICT.body.message, advice });
    expect(sent).toHaveLength(1);
    await expect(lift([lifted("ban_1"), UNAVAILABLE]).lifting).rejects.toMatchObject({ kind: "failed" });
  });
});
