/** The document's introduction, in Markdown. Every number and code in it is read from where the code has it. */
import { MAX_UNKNOWN_KEY_LOOKUPS_PER_MINUTE } from "../worker/auth/ip-rate-limit-rules.ts";
import {
  ESCALATION_WINDOW_MS,
  FIRST_BAN_MS,
  MAX_BAN_MS,
  STRIKE_GRACE_MS,
  STRIKE_TTL_MS,
  STRIKES_PER_BAN,
} from "../worker/limiter/core/ban.ts";
import { ERROR_CATALOGUE, PUBLIC_CODES, statusOf } from "./error-catalogue.ts";
import { DEFAULT_PLANS } from "./plans.ts";

export function introduction(): string {
  return `The orders of a pet store: list them all, and cancel one.

## Authentication

Send your API key with every request: \`Authorization: Bearer sok_…\`. Without a valid one the answer is 401. It is a secret: keep it out of addresses and out of what you publish.

## Rate limits

| Plan | Requests per minute | Requests per day |
|---|---:|---:|
${Object.values(DEFAULT_PLANS)
  .map((plan) => `| ${plan.name} | ${limit(plan.requestsPerMinute)} | ${limit(plan.requestsPerDay)} |`)
  .join("\n")}

These are the defaults; a key can have limits of its own. Both windows are fixed: the UTC minute and the UTC day. A request counts once in each, whatever its outcome; one that is refused counts in neither.

Every response carries \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and \`X-RateLimit-Reset\` (a Unix timestamp). They show the window with the least remaining, on a tie the longer. \`RateLimit-Policy\` and \`RateLimit\` show both windows, as the IETF draft has them; they are experimental like the draft.

**Over the limit** the answer is 429. Wait as long as \`Retry-After\` says: a request after it gets in, one before it does not. Where an answer has no \`Retry-After\` and a retry makes sense (500, or no answer at all), back off exponentially, with jitter.

**Going on in spite of 429s leads to a temporary ban of the key.** Refusals within ${span(STRIKE_GRACE_MS)} of a window's first do not count. Each later one is a strike, and ${STRIKES_PER_BAN} strikes within ${span(STRIKE_TTL_MS)} make a ban of ${span(FIRST_BAN_MS)}. Each further ban within ${span(ESCALATION_WINDOW_MS)} of the end of the last is twice as long, up to ${span(MAX_BAN_MS)}. Requests during a ban are answered with 429 and \`key_banned\`, and do not prolong it.

Tries with unknown keys are limited by address: past ${MAX_UNKNOWN_KEY_LOOKUPS_PER_MINUTE} a minute they are answered with 429 too, whose headers tell of that limit.

## Errors

Every error is a JSON object with \`code\`, \`message\` and \`status\`. These are all the codes:

| Code | Status | When |
|---|---|---|
${PUBLIC_CODES.map((code) => `| \`${code}\` | ${statusOf(code)} | ${ERROR_CATALOGUE[code].when} |`).join("\n")}

## Conventions

- \`HEAD\` works wherever \`GET\` does: the same status and headers, no body. It counts like any request.
- Identifiers are 64-bit integers, exact to the last digit. In JavaScript, numbers above 2^53 lose digits.
- Times are RFC 3339 in UTC.
- Under /v1 a known path with another method is 405, with \`Allow\`, and an unknown path is 404. Both need a key.
- \`X-Request-Id\` names your request in our logs.

## Versions

The version is part of the path, and only /v1 exists. New optional members, headers, codes and operations can appear in it; anything that would break a client goes into v2, for which filtering and paging of the order list are planned. What is going away is marked deprecated and says so in \`Deprecation\` (RFC 9745) and \`Sunset\` (RFC 8594). \`x-stability\` marks what is \`experimental\` or \`beta\`; what has no mark is stable.`;
}

function limit(requests: number | null): string {
  return requests === null ? "custom" : String(requests);
}

/** `5 minutes`, in the largest unit that divides it; hours for a whole day, as that is how the rule is told. */
function span(ms: number): string {
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
