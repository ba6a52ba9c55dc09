/** Structured log lines. A path is logged as its route's pattern and secrets are masked, since a client may put a key anywhere. */

export type RequestLine = {
  readonly requestId: string;
  readonly method: string;
  /** The pattern that matched (`/v1/store/orders/:orderId`), never the path itself. */
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
  readonly keyId?: string;
  readonly code?: string;
};

export function logRequest(line: RequestLine): void {
  console.log(JSON.stringify({ event: "request", ...line }));
}

/** `context` is for ids and counts; the thrown value brings its name, message, cause and stack. */
export function logError(
  event: string,
  thrown: unknown,
  context: Record<string, string | number> = {},
): void {
  console.error(JSON.stringify({ event, ...context, error: describe(thrown) }));
}

type Described = { name: string; message: string; stack?: string; cause?: Described };

function describe(thrown: unknown): Described {
  if (!(thrown instanceof Error)) return { name: typeof thrown, message: maskSecrets(String(thrown)) };
  return {
    name: thrown.name,
    message: maskSecrets(thrown.message),
    ...(thrown.stack === undefined ? {} : { stack: maskSecrets(thrown.stack) }),
    ...(thrown.cause === undefined ? {} : { cause: describe(thrown.cause) }),
  };
}

/** API keys and whatever follows `Bearer`. */
function maskSecrets(text: string): string {
  return text.replace(/sok_[0-9A-Za-z]+/g, "sok_***").replace(/(bearer)\s+\S+/gi, "$1 ***");
}
