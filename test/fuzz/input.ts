/** One request of the fuzzer, as bytes. All text is Latin-1: one character is one byte. */
import fc from "fast-check";

/**
 * How the connection goes on after the bytes. `complete`: the request is whole;
 * `ended`: the client ends its side; `cut`: the connection is closed at once; `stalled`: nothing more is sent
 * for a while.
 */
export type Ending = "complete" | "ended" | "cut" | "stalled";

export type Input = {
  readonly kind: string;
  readonly requestLine: string;
  readonly headers: readonly string[];
  /** What follows the head, chunk sizes included. */
  readonly body: string;
  readonly ending: Ending;
};

export type Request = Omit<Input, "kind">;

/** Arbitraries of requests by kind. */
export type Kinds = Readonly<Record<string, fc.Arbitrary<Request>>>;

/** The credentials of the requests, and the ids that exist. */
export type Target = {
  readonly key: string;
  /** They have a right MAC, and are not keys. */
  readonly unknownKeys: readonly string[];
  readonly adminToken: string;
  readonly keyIds: readonly string[];
  readonly orderIds: readonly string[];
};

export const HOST = "Host: localhost";

/** A whole request, which has no body unless `rest` gives it one. */
export function request(
  requestLine: string,
  headers: readonly string[],
  rest: Partial<Request> = {},
): Request {
  return { requestLine, headers: [HOST, ...headers], body: "", ending: "complete", ...rest };
}

/** A request with a body and its length. */
export function withBody(requestLine: string, headers: readonly string[], body: string): Request {
  return request(requestLine, [...headers, `Content-Length: ${body.length}`], { body });
}

/** One of the words of these lines. */
export function word(...lines: readonly string[]): fc.Arbitrary<string> {
  return fc.constantFrom(...lines.join(" ").split(" "));
}

/** Bytes of any value. */
export function bytes(minLength: number, maxLength: number): fc.Arbitrary<string> {
  const unit = fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code));
  return fc.string({ unit, minLength, maxLength });
}

/** A text many times, so that it is at most `maxLength` long. */
export function long(text: string, maxLength: number): fc.Arbitrary<string> {
  return fc.nat(Math.floor(maxLength / text.length)).map((times) => text.repeat(times));
}

/** So that the limit of failed sign-ins from one address is not reached. */
export const anyAddress = fc.ipV4().map((address) => `CF-Connecting-IP: ${address}`);

export function bytesOf({ requestLine, headers, body }: Input): Buffer {
  return Buffer.from(`${[requestLine, ...headers, "", ""].join("\r\n")}${body}`, "latin1");
}

export function methodOf({ requestLine }: Request): string {
  return requestLine.split(" ")[0] ?? "";
}

/** UTF-8 bytes as Latin-1 text; an unpaired surrogate is the three bytes of a careless encoder. */
export function utf8(text: string): string {
  return text.replace(/[\ud800-\udfff]|[^\0-\x7f]/gu, (char) => {
    const code = char.codePointAt(0) ?? 0;
    if (code < 0xd800 || code > 0xdfff) return Buffer.from(char, "utf8").toString("latin1");
    return String.fromCharCode(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f));
  });
}

/** For people: the bytes as text, with the credentials as variables. */
export function printable(input: Input, { key, adminToken }: Target): string {
  const text = bytesOf(input)
    .toString("latin1")
    .replaceAll(key, "$KEY")
    .replaceAll(adminToken, "$ADMIN_TOKEN");
  const shown = text.length > 2_000 ? `${text.slice(0, 2_000)}… (${text.length} bytes)` : text;
  const escaped = JSON.stringify(shown).replace(
    /[\x7f-\xff]/g,
    (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, "0")}`,
  );
  return `${input.kind}: ${escaped}, then ${input.ending}`;
}
