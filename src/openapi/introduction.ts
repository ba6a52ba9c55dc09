/** The introduction of the document, in Markdown. The numbers of the ban rule are those of src/limiter/core/bans.ts. */
import { DEFAULT_PLANS } from "./default-plans.ts";
import { ERROR_CATALOGUE, PUBLIC_CODES, statusOf } from "./error-catalogue.ts";
import { quickStart } from "./quick-start.ts";

export const introduction = (baseUrl: string): string => `List all orders of a pet store, and cancel one.

## Quick start

${quickStart(baseUrl)}

## Authentication

Send your API key with every request: \`Authorization: Bearer sok_…\`. The key is a secret: do not put the key into a URL or into public code.

Without a valid key the answer is 401; over plain HTTP the answer is 403, whatever the key. A 401 shows \`X-RateLimit-Limit: 0\` and \`X-RateLimit-Remaining: 0\`, because a request without a valid key has no quota. \`X-RateLimit-Reset\` is the end of the current minute then.

## Rate limits

| Plan | Requests per minute | Requests per day |
|---|---:|---:|
${Object.values(DEFAULT_PLANS)
  .map((plan) => `| ${plan.name} | ${limit(plan.requestsPerMinute)} | ${limit(plan.requestsPerDay)} |`)
  .join("\n")}

These are the defaults; a key can have its own limits. The minute and the day are fixed windows in UTC. A request with a valid key counts once in the minute and once in the day, whatever the answer. A request that is refused with 429 does not count.

Every response has \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and \`X-RateLimit-Reset\` (a Unix timestamp). They show the window with fewer requests remaining, or the day if both have the same number. \`RateLimit-Policy\` and \`RateLimit\` show both windows in the form of the IETF draft; they are experimental, as the draft is.

### Over the limit

The answer is 429. Wait for the time in \`Retry-After\`, which is at most a day: an earlier request is refused. After the wait the key has requests left, unless other clients of the key were faster. After a 500, or without an answer, there is no \`Retry-After\`: use exponential backoff with jitter.

### Bans

A key that goes on after a 429 in 20 different seconds of one window is banned: for 5 minutes at first, and twice as long, up to 24 hours, each time that a ban begins within 24 hours of the last ban's end. The two seconds after the window's first refusal, its last second and seconds that are more than 10 minutes ago do not count.

The message of a 429 says how many of the 20 seconds are used. A second counts once, however many requests it refuses. Fewer than 20 clients of a key that each wait for \`Retry-After\` are never banned.

During a ban the answer is 429 with the code \`key_banned\`; \`Retry-After\` and \`X-RateLimit-Reset\` show the end of the ban. Requests during a ban do not extend the ban.

## Errors

Every error is a JSON object with \`code\`, \`message\` and \`status\`. These are the codes; new codes can be added.

${PUBLIC_CODES.map((code) => `- \`${code}\` (${statusOf(code)}): ${ERROR_CATALOGUE[code].when}`).join("\n")}

## Conventions

- \`HEAD\` works wherever \`GET\` does, with the same status and headers and no body; \`Content-Length\` can be absent. A \`HEAD\` request counts like any other request.
- Identifiers are 64-bit integers. JavaScript numbers lose digits above 2^53.
- Times are RFC 3339 in UTC.
- CORS: a web page of another origin can call the API only if the operator has listed that origin.
- With a valid key, the answer to an unsupported method is 405 with \`Allow\`, and the answer to an unknown path is 404.
- A cancel with a false \`If-Match\` or \`If-None-Match\` is answered with 412, and cancels nothing.
- \`X-Request-Id\` identifies your request in the logs of the service.

## Versions

The version is part of the path, and only /v1 exists. New optional members, headers, codes and operations can be added to /v1. A change that would break clients goes into v2; filtering and paging of the order list are planned for v2. Responses of a deprecated operation have the headers \`Deprecation\` (RFC 9745) and \`Sunset\` (RFC 8594). \`x-stability\` marks what is \`experimental\` or \`beta\`; everything else is stable.`;

function limit(requests: number | null): string {
  return requests === null ? "custom" : String(requests);
}
