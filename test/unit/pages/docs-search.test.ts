/** The search of the documentation page. What each word leads to on the real page is tested in test/slow. */
import { describe, it } from "vitest";
import { createSearch } from "../../../src/pages/docs/search-index.ts";

const ENTRIES = [
  { id: "cancel", title: "Cancel an order", text: "DELETE /store/orders/{orderId} Cancels a pending order." },
  { id: "list", title: "List all orders", text: "All orders in one response. Paging is not supported." },
  { id: "bans", title: "Bans", text: "Repeated requests after a 429 lead to a temporary ban." },
  { id: "limits", title: "Rate limits", text: "The limit of each minute is 60 requests. The key counts." },
  { id: "key_banned", title: "key_banned", text: "429 The key is temporarily banned." },
  {
    id: "retry",
    title: "Retry-After",
    text: "Seconds to wait. A request of a client that comes earlier is refused.",
  },
];
const search = createSearch(ENTRIES, {
  list: "pagination filter",
  cancel: "remove undo",
  limits: "throttle",
});
const idsFor = (query: string) => search(query).map(({ id }) => id);

describe("the search", () => {
  it("finds words of titles and texts, the title first", ({ expect }) => {
    expect(idsFor("ban")[0]).toBe("bans");
    expect(idsFor("key_banned")[0]).toBe("key_banned");
    expect(idsFor("retry-after")[0]).toBe("retry");
    expect(idsFor("CANCEL")[0]).toBe("cancel");
  });

  it("finds what people call it otherwise", ({ expect }) => {
    expect(idsFor("pagination")).toEqual(["list"]);
    expect(idsFor("undo")[0]).toBe("cancel");
    expect(idsFor("throttle")).toEqual(["limits"]);
  });

  it("finds the beginning of a word, also of another name", ({ expect }) => {
    expect(idsFor("canc")[0]).toBe("cancel");
    expect(idsFor("pagin")[0]).toBe("list");
  });

  it("finds a word with a typo, but not a number with another digit", ({ expect }) => {
    expect(idsFor("cancle")[0]).toBe("cancel");
    expect(idsFor("paginatoin")[0]).toBe("list");
    expect(idsFor("trottle")[0]).toBe("limits");
    expect(idsFor("428")).toEqual([]);
  });

  it("prefers all words, then their order, and falls back to some of them", ({ expect }) => {
    expect(idsFor("temporary ban")).toEqual(["bans", "key_banned"]);
    expect(idsFor("one response")).toEqual(["list"]);
    expect(idsFor("how do I cancel an order")[0]).toBe("cancel");
  });

  it("reads the beginning of a text that is longer than a question", ({ expect }) => {
    expect(idsFor(`${"of ".repeat(30)}throttle`)).toContain("limits");
    expect(idsFor(`ban ${"quinquireme ".repeat(500)}throttle`)).toEqual(["bans", "key_banned"]);
  });

  it("shows the text around the word", ({ expect }) => {
    expect(search("refused")[0]?.snippet).toBe("… client that comes earlier is refused.");
    expect(search("undo")[0]?.snippet).toMatch(/^DELETE /);
  });

  it("finds nothing for a word that is nowhere, and for no word", ({ expect }) => {
    expect(idsFor("quinquireme")).toEqual([]);
    expect(idsFor(" ")).toEqual([]);
    expect(idsFor("***")).toEqual([]);
  });
});
