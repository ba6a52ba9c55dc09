export class TimeoutError extends Error {}

/** Rejects with a TimeoutError when there is no result in time. The work behind the promise goes on. */
export async function withDeadline<T>(result: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | null = null;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TimeoutError(`no result within ${timeoutMs} ms`)), timeoutMs);
  });
  try {
    return await Promise.race([result, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
