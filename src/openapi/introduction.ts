/** The introduction of the document, in Markdown. Its numbers and codes come from the constants that the Worker uses. */
import { MAX_UNKNOWN_KEY_LOOKUPS_PER_MINUTE } from "../worker/auth/ip-rate-limit-rules.ts";
import {
  ESCALATION_WINDOW_MS,
  FIRST_BAN_MS,
  MAX_BAN_MS,
  MIN_STRIKES_PER_BAN,
  STRIKE_GRACE_MS,
  STRIKE_TTL_MINUTES,
} from "../worker/limiter/core/ban.ts";
import { DEFAULT_PLANS } from "./default-plans.ts";
import { ERROR_CATALOGUE, PUBLIC_CODES, statusOf } from "./error-catalogue.ts";

export function introduction(): string {
  return `List all orders of a pet store, and cancel one.

## Authentication

Send your API key with every request: \`Authorization: Bearer sok_…\`. Without a valid key the answer is 401, and over plain HTTP it is 403, whatever the key. The key is a secret: do not put it into a URL or into public code.

## Rate limits

| Plan | Requests per minute | Requests per day |
|---|---:|---:|
${Object.values(DEFAULT_PLANS)
  .map((plan) => `| ${plan.name} | ${limit(plan.requestsPerMinute)} | ${limit(plan.requestsPerDay)} |`)
  .join("\n")}

These are the defaults; a key can have its own limits. Both windows are fixed: the UTC minute and the UTC day. A request to which the key's limits are applied counts once in each window, whatever its outcome. One that is refused with 429 counts in neither.

Every response carries \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and \`X-RateLimit-Reset\` (a Unix timestamp). They show the window with fewer requests remaining; if both have the same number, the day. \`RateLimit-Policy\` and \`RateLimit\` show both windows in the form of the IETF draft, on every response to a request to which the key's limits were applied. They are experimental, as the draft is.

### Over the limit

The answer is 429. Wait for the time in \`Retry-After\`: every earlier request is refused, and from then on the key has requests left again. Only the operator, other clients of the key, and an unreachable rate limiter can change that. If there is no \`Retry-After\` and a retry makes sense (500, or no answer at all), use exponential backoff with jitter.

### Bans

Repeated requests after a 429 lead to a temporary ban of the key. A request that is refused by a used-up window is a strike, unless it was sent within ${duration(STRIKE_GRACE_MS)} of the window's first refusal. Strikes belong to that window; those of the current UTC minute and the ${STRIKE_TTL_MINUTES - 1} before it count. A ban begins at ${MIN_STRIKES_PER_BAN} strikes, or at a third of the minute's limit if that is more, and lasts ${duration(FIRST_BAN_MS)}. Each further ban within ${duration(ESCALATION_WINDOW_MS)} of the end of the last ban is twice as long, up to ${duration(MAX_BAN_MS)}. Requests during a ban are answered with 429 and \`key_banned\`, and do not extend the ban; their headers show 0 remaining, the end of the wait, and the minute's limit, or the day's if that is used up for longer. Clients that each wait for \`Retry-After\` cause one refusal each: up to that many of them can share a key and are never banned.

### Unknown keys

Under a flood of unknown keys, requests with such keys, and with valid ones that were not used lately, have a per-IP rate limit of ${MAX_UNKNOWN_KEY_LOOKUPS_PER_MINUTE} per minute. Past it the answer is 429, and its headers show that limit. It ends with the flood, so a request before \`Retry-After\` may be admitted.

## Errors

Every error is a JSON object with \`code\`, \`message\` and \`status\`. These are all the codes:

| Code | Status | When |
|---|---|---|
${PUBLIC_CODES.map((code) => `| \`${code}\` | ${statusOf(code)} | ${ERROR_CATALOGUE[code].when} |`).join("\n")}

## Conventions

- \`HEAD\` works wherever \`GET\` does, with the same status and headers and no body; \`Content-Length\` can be absent. It counts like any other request.
- Identifiers are 64-bit integers with all their digits. JavaScript numbers lose digits above 2^53.
- Times are RFC 3339 in UTC.
- CORS: a web page of another origin can call the API only if the operator has listed that origin.
- Under /v1, the answer to an unsupported method is 405 with \`Allow\`, and to an unknown path 404. Without a valid key both are 401.
- \`X-Request-Id\` identifies your request in the logs of the service.

## Versions

The version is part of the path, and only /v1 exists. New optional members, headers, codes and operations can be added to it. A change that would break clients goes into v2; filtering and paging of the order list are planned for v2. A deprecated operation is marked as such, and its responses have the headers \`Deprecation\` (RFC 9745) and \`Sunset\` (RFC 8594). \`x-stability\` marks what is \`experimental\` or \`beta\`; everything else is stable.`;
}

function limit(requests: number | null): string {
  return requests === null ? "custom" : String(requests);
}

/** A duration as `5 minutes`, in the largest unit that divides it, up to hours. */
function duration(ms: number): string {
  const units = [
    ["hour", 3_600_000],
    ["minute", 60_000],
    ["second", 1_000],
  ] as const;
  for (const [unit, lengthMs] of units) {
    if (ms % lengthMs !== 0) continue;
    const count = ms / lengthMs;
    return `${count} ${unit}${count === 1 ? "" : "s"}`;
  }
  return `${ms} ms`;
}
