export class LimiterTimeoutError extends Error {
  override readonly name: string = "LimiterTimeoutError";
}

/** Rejects with a LimiterTimeoutError if there is no result in time. The work goes on. */
export async function withTimeout<T>(work: Promise<T>, timeoutMs: number, what: string): Promise<T> {
  const { promise: timeout, reject } = Promise.withResolvers<never>();
  const refuse = () => reject(new LimiterTimeoutError(`${what}: no answer within ${timeoutMs} ms`));
  const timer = setTimeout(refuse, timeoutMs);
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
