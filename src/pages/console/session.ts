/** Who is signed in. Kept for this tab, in sessionStorage, so that a reload keeps it. The browser may restore it with a closed tab. */

export type Session = {
  /** The admin token; empty: Cloudflare Access proves who is calling. */
  readonly token: string;
  /** The operator's name for the audit log; empty: the service writes `operator`. */
  readonly operator: string;
};

/** A session until the sign-out. */
export type OpenSession = Session & {
  /** Aborted at the sign-out: no call is made with a token that was to be forgotten. */
  readonly ended: AbortSignal;
};

const STORED_AS = "store-orders-console";

export function loadSession(): Session | undefined {
  try {
    // `saveSession` wrote it.
    return JSON.parse(sessionStorage.getItem(STORED_AS) ?? "null") ?? undefined;
  } catch {
    return undefined;
  }
}

export function saveSession(session: Session): void {
  sessionStorage.setItem(STORED_AS, JSON.stringify(session));
}

export function clearSession(): void {
  sessionStorage.removeItem(STORED_AS);
}

export function isSameSession(one: Session | undefined, other: Session | undefined): boolean {
  return one?.token === other?.token && one?.operator === other?.operator;
}
