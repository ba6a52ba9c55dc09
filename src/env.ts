/** Bindings and vars as wrangler.toml declares them, and the settings read from them: checked, and parsed once. */

export type Bindings = {
  readonly DB: D1Database;
  readonly KEY_LIMITER: DurableObjectNamespace;
  readonly UNKNOWN_KEY_FENCE: RateLimit;
  readonly ADMIN_FENCE: RateLimit;
  readonly ADMIN_TOKEN?: string;
  readonly CORS_ORIGINS?: string;
  readonly LIMITER_FAILURE_MODE?: string;
};

export type Settings = {
  /** Origins that may call from a browser; none by default. */
  readonly corsOrigins: readonly string[];
  /** What happens while a key's limiter cannot be reached: refuse with 503, or let through with a label (D10). */
  readonly limiterFailureMode: "closed" | "open";
};

const parsed = new WeakMap<Bindings, Settings>();

/** Throws on a var that is set to something else than its documented values, so that a typo is loud. */
export function settingsOf(env: Bindings): Settings {
  const known = parsed.get(env);
  if (known) return known;
  const settings = { corsOrigins: corsOrigins(env), limiterFailureMode: limiterFailureMode(env) };
  parsed.set(env, settings);
  return settings;
}

function corsOrigins(env: Bindings): string[] {
  return (env.CORS_ORIGINS ?? "").split(/[\s,]+/).filter((origin) => origin !== "");
}

function limiterFailureMode(env: Bindings): "closed" | "open" {
  const mode = env.LIMITER_FAILURE_MODE ?? "closed";
  if (mode !== "closed" && mode !== "open") {
    throw new Error(`LIMITER_FAILURE_MODE must be "closed" or "open", not ${JSON.stringify(mode)}`);
  }
  return mode;
}
