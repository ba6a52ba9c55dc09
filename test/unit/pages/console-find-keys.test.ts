/** How the console finds keys, against an admin API that searches a part of the keys with each call. */
import { afterEach, describe, it, vi } from "vitest";
import { adminClient } from "../../../src/pages/console/admin-client.ts";
import type { KeyPage, KeyView } from "../../../src/pages/console/api-types.ts";
import { keysBy, noneText, restAddress, searchKeys } from "../../../src/pages/console/keys/find-keys.ts";

const client = adminClient({ token: "a token", operator: "" });

/** Of which only the id is read. */
function key(id: string): KeyView {
  return { id } as KeyView;
}

/** Each call of the list answers the next of these pages, and then the last one again; a hint finds `byHint`. */
function answer({
  pages,
  byHint = [],
}: {
  pages: readonly KeyPage[];
  byHint?: readonly KeyView[];
}): string[] {
  const called: string[] = [];
  const left = [...pages];
  vi.stubGlobal("fetch", async (url: string) => {
    called.push(url);
    if (url.endsWith("/keys/find")) return Response.json({ keys: byHint });
    return Response.json(left.length > 1 ? left.shift() : left[0]);
  });
  return called;
}

afterEach(() => {
  vi.unstubAllGlobals();
});

const nothing: KeyPage = { keys: [], next: "c1" };

function last(...ids: string[]): KeyPage {
  return { keys: ids.map(key), next: null };
}

describe("a search for keys", () => {
  const ids = ({ keys }: KeyPage) => keys.map(({ id }) => id);

  it("goes on while pages are empty, beyond 1,500 keys", async ({ expect }) => {
    answer({ pages: [...Array(6).fill(nothing), last("zebra")] });
    expect(await keysBy(client, "zebra-shop", 8, null)).toEqual(last("zebra"));
  });

  it("stops after some pages, and says where to go on", async ({ expect }) => {
    const called = answer({ pages: [nothing] });
    expect(await keysBy(client, "zebra-shop", 8, null)).toEqual(nothing);
    const calls = called.length;
    expect(calls).toBeLessThan(20);
    await keysBy(client, "zebra-shop", 8, "c1");
    expect(called[calls]).toContain("after=c1");
  });

  it("looks for the end of a secret among all keys, also if a name has the text", async ({ expect }) => {
    answer({ pages: [nothing], byHint: [key("k1")] });
    expect(await searchKeys(client, { search: "Y4pq" }, 8)).toEqual({ keys: [key("k1")], next: "c1" });
    answer({ pages: [last("k0", "k1")], byHint: [key("k1")] });
    expect(ids(await searchKeys(client, { search: "Y4pq" }, 8))).toEqual(["k1", "k0"]);
  });

  it("takes up to 12 characters as the end of a secret, unless a name has them", async ({ expect }) => {
    for (const end of ["2Y4pq", "7hkLmoP2Y4pq"]) {
      answer({ pages: [last()], byHint: [key("k1")] });
      expect(await keysBy(client, end, 8, null)).toEqual(last("k1"));
    }
    answer({ pages: [nothing], byHint: [key("k1")] });
    expect(await keysBy(client, "2Y4pq", 8, null)).toEqual({ keys: [key("k1")], next: "c1" });
    answer({ pages: [last("k0")], byHint: [key("k1")] });
    expect(await keysBy(client, "warehouse", 8, null)).toEqual(last("k0"));
  });

  it("leaves out the end of a secret if there are filters, and on a later page", async ({ expect }) => {
    const called = answer({ pages: [last()] });
    await searchKeys(client, { search: "Y4pq", plan: "pro" }, 8);
    await keysBy(client, "Y4pq", 8, "c1");
    expect(called.filter((url) => url.includes("/keys/find"))).toEqual([]);
  });
});

describe("a search that has not read all keys", () => {
  const search = { search: "a b" };

  it("never says that there is none, and leads to where the keys page goes on", ({ expect }) => {
    const noneOf = (page: KeyPage) => noneText(page, "No key matches.");
    expect([last(), { keys: [key("k1")], next: "c1" }].map(noneOf)).toEqual(Array(2).fill("No key matches."));
    expect(noneOf(nothing)).toBe("None found so far: not all keys were searched.");
    expect(restAddress(search, last())).toBeUndefined();
    expect(restAddress(search, nothing)).toBe("/console/keys?search=a+b&after=c1");
    expect(restAddress(search, { keys: [key("k1")], next: "c1" })).toBe("/console/keys?search=a+b");
  });
});
