/** The introduction of the document, in Markdown. src/limiter/core/bans.ts has the ban rule's numbers. */
import { DEFAULT_PLANS } from "./default-plans.ts";
import { ERROR_CATALOGUE, PUBLIC_CODES, statusOf } from "./error-catalogue.ts";
import { cancelProgram, exactPrograms, listPrograms } from "./programs.ts";

/** `supportContact` is an e-mail address or an https address. Undefined if not configured. */
export const introduction = (
  baseUrl: string,
  supportContact: string | undefined,
): string => `List all orders of a pet store, and cancel one.

## Get a key

Ask ${supportContact === undefined ? "the operator of this instance" : `<${supportContact}>`} for an API key. Send the key with every request: \`Authorization: Bearer sok_…\`. The key is a secret: keep it out of URLs and out of public code.

## First call

Put your key into the variable \`KEY\` (\`export KEY=sok_…\`). Each program lists the orders, and waits after a 429 as \`Retry-After\` says.

${listPrograms(baseUrl)}

To cancel a pending order, put the order's id into \`ORDER\`. **A cancel cannot be undone.**

${cancelProgram(baseUrl)}

A single order cannot be read: \`GET /v1/store/orders/{orderId}\` is answered with 405. Look for the order in the list.

## Errors

Every error is a JSON object with \`code\`, \`message\` and \`status\`. New codes can be added.

${PUBLIC_CODES.map((code) => `- \`${code}\` (${statusOf(code)}): ${ERROR_CATALOGUE[code].when}`).join("\n")}

After a 500, or without an answer, use exponential backoff with jitter. Quote the response's \`X-Request-Id\` when you ask for help.

## Rate limits

| Plan | Requests per minute | Requests per day |
|---|---:|---:|
${Object.values(DEFAULT_PLANS)
  .map((plan) => `| ${plan.name} | ${limit(plan.requestsPerMinute)} | ${limit(plan.requestsPerDay)} |`)
  .join("\n")}

These are the defaults; a key can have its own limits. Minutes and days are in UTC. A request with a valid key counts once in the minute and once in the day, whatever the answer. A request that is refused with 429 does not count.

\`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and \`X-RateLimit-Reset\` (a Unix timestamp) of every response show the window with fewer requests remaining, or the day if both have the same number. The experimental \`RateLimit-Policy\` and \`RateLimit\` show both windows.

After a 429, wait for the seconds in \`Retry-After\`, at most a day. An earlier request is refused. After the wait the key has requests left, unless other clients of the key were faster.

## Bans

A key that goes on after a 429 in 20 different seconds of one window is banned: for 5 minutes at first, and twice as long, up to 24 hours, each time that a ban begins within 24 hours of the last ban's end. The two seconds after the window's first refusal, its last second and seconds that are more than 10 minutes ago do not count.

The message of a 429 says how many of the 20 seconds are used. A second counts once, however many requests it refuses. Fewer than 20 clients of a key that each wait for \`Retry-After\` are never banned. During a ban the answer is 429 with the code \`key_banned\`, and requests do not extend the ban.

## 64-bit ids

Every order has an \`id\`, and the ids use all 64 bits. JavaScript's numbers lose digits above 2^53: \`JSON.parse\` reads 9007199254740993 as 9007199254740992, which is another order. Python needs nothing, nor does Go with \`int64\`. In JavaScript, read the ids as bigint:

${exactPrograms(baseUrl)}

## Conventions

- \`HEAD\` works wherever \`GET\` does, and counts like any other request.
- Times are RFC 3339 in UTC.
- A web page of another origin can call the API only if the operator has listed that origin.

## Versions

The version is part of the path, and only /v1 exists. New optional members, headers, codes and operations can be added to /v1. A change that would break clients goes into v2; filtering and paging of the list are planned for v2. A deprecated operation answers with \`Deprecation\` (RFC 9745) and \`Sunset\` (RFC 8594). \`x-stability\` marks parts that are \`experimental\` or \`beta\`.`;

function limit(requests: number | null): string {
  return requests === null ? "custom" : String(requests);
}
