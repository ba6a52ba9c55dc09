/** The file of settings: what the limiter is, and what can be done with it. What is absent is not asked. */
import * as v from "valibot";

const command = v.pipe(v.string(), v.minLength(1));
const request = v.pipe(v.string(), v.regex(/^[A-Z]+ \/\S*$/, "must be a method and a path, as GET /orders"));
const keys = v.union(
  [v.pipe(v.array(v.pipe(v.string(), v.minLength(1))), v.minLength(1)), command],
  "must be a list of keys, or a command that prints COUNT of them",
);
const whole = (min: number, max: number) =>
  v.pipe(
    v.number(),
    v.integer(),
    v.minValue(min, `must be at least ${min}`),
    v.maxValue(max, `must be at most ${max}`),
  );

const Settings = v.pipe(
  v.strictObject({
    /** A request that is admitted, and costs one. */
    ok: request,
    limit: v.strictObject({ count: whole(4, 1_000), seconds: whole(2, 300) }),
    header: v.optional(
      v.pipe(v.string(), v.regex(/^[\w-]+: .*\{key\}/, "must be as Authorization: Bearer {key}")),
      "Authorization: {key}",
    ),
    /** Without it every new name is a key. */
    keys: v.optional(keys),
    /** The fields that the limiter sends beside Retry-After. */
    profiles: v.optional(v.array(v.picklist(["triple", "draft"])), []),
    notFound: v.optional(request),
    wrongMethod: v.optional(request),
    /** Sent without a key. */
    unauthorized: v.optional(request),
    /** Costs more than the limit. */
    costly: v.optional(request),
    /** A second window of the keys, or of other keys or another path. */
    longer: v.optional(
      v.strictObject({
        count: whole(5, 2_000),
        seconds: whole(8, 366 * 86_400),
        ok: v.optional(request),
        keys: v.optional(keys),
      }),
    ),
    restart: v.optional(command),
    revoke: v.optional(command),
    ban: v.optional(command),
    banSeconds: v.optional(whole(2, 600)),
    setLimit: v.optional(command),
    storeAway: v.optional(command),
    storeBack: v.optional(command),
  }),
  v.check(
    ({ limit, longer }) =>
      longer === undefined ||
      (longer.count > limit.count && longer.count < 2 * limit.count && longer.seconds >= 4 * limit.seconds),
    "longer must be four of limit's windows or more, with a count above limit's and below twice of it",
  ),
  v.check(
    ({ storeAway, storeBack }) => (storeAway === undefined) === (storeBack === undefined),
    "storeAway and storeBack belong together",
  ),
);

export type Settings = v.InferOutput<typeof Settings>;
export type Profile = Settings["profiles"][number];

/** Throws an Error that names the member that is wrong. */
export function settingsOf(text: string): Settings {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (thrown) {
    throw new Error(`The settings are no JSON: ${thrown instanceof Error ? thrown.message : thrown}`);
  }
  const read = v.safeParse(Settings, json);
  if (read.success) return read.output;
  const problems = read.issues.map((issue) =>
    [v.getDotPath(issue), issue.message].filter(Boolean).join(": "),
  );
  throw new Error(`The settings are wrong. ${problems.join("; ")}`);
}
