/** Which failures of a connection mean that nothing was sent, so that a change was not made; and how wide a table can be. */
import { describe, it } from "vitest";
import { LostAnswer } from "../../../src/cli/admin-client.ts";
import { answerOf, widthOf } from "../../../src/cli/commands/session.ts";

/** As `fetch` fails: with a code in the cause, or only a message. */
async function failureBy(cause: Error): Promise<unknown> {
  const access = { baseUrl: "https://orders.example", timeoutSeconds: 60 };
  return answerOf(access, Promise.reject(new TypeError("fetch failed", { cause }))).catch(
    (thrown: unknown) => thrown,
  );
}

const coded = (code: string) => Object.assign(new Error("it failed"), { code });

describe("a connection that fails", () => {
  it.for([
    "ECONNREFUSED",
    "ENOTFOUND",
    "EAI_AGAIN",
    "EHOSTUNREACH",
    "ENETUNREACH",
    "UND_ERR_CONNECT_TIMEOUT",
    "CERT_HAS_EXPIRED",
    "DEPTH_ZERO_SELF_SIGNED_CERT",
    "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
    "ERR_SSL_WRONG_VERSION_NUMBER",
  ])("with %s was never made", async (code, { expect }) => {
    const failure = await failureBy(coded(code));
    expect(failure).toMatchObject({ message: "https://orders.example cannot be reached." });
    expect(failure).not.toBeInstanceOf(LostAnswer);
  });

  it("for a port that fetch refuses was never made", async ({ expect }) => {
    expect(await failureBy(new Error("bad port"))).not.toBeInstanceOf(LostAnswer);
  });

  // ETIMEDOUT is also what a connection that was made ends with, if the other side is silent.
  it.for([
    "ECONNRESET",
    "EPIPE",
    "ETIMEDOUT",
    "UND_ERR_SOCKET",
    "UND_ERR_HEADERS_TIMEOUT",
    "HPE_INVALID_VERSION",
  ])("with %s may have sent the request: the answer counts as lost", async (code, { expect }) => {
    const failure = await failureBy(coded(code));
    expect(failure).toBeInstanceOf(LostAnswer);
    expect(failure).toMatchObject({ message: "The connection to https://orders.example broke." });
  });
});

describe("the width of a table", () => {
  it("has no bound unless the terminal says how wide it is", ({ expect }) => {
    expect(widthOf({ columns: 80 })).toBe(80);
    expect(widthOf({})).toBe(Number.POSITIVE_INFINITY);
    expect(widthOf({ columns: 0 })).toBe(Number.POSITIVE_INFINITY);
  });
});
