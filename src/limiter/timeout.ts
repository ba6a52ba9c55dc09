export class LimiterTimeoutError extends Error {
  override readonly name: string = "LimiterTimeoutError";
}

/** Rejects with a LimiterTimeoutError if there is no result in time. The work goes on. */
export function withTimeout<T>(work: Promise<T>, timeoutMs: number, what: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const refuse = () => reject(new LimiterTimeoutError(`${what}: no answer within ${timeoutMs} ms`));
    const timer = setTimeout(refuse, timeoutMs);
    work.finally(() => clearTimeout(timer)).then(resolve, reject);
  });
}
