/** What each client must get from the same service. */
export type Keys = {
  readonly baseUrl: string;
  readonly usable: string;
  /** Its limit is used up. */
  readonly exhausted: string;
};

/** Order 1 is pending, order 2 has shipped. */
export type Outcome = {
  readonly listed: readonly { readonly id?: number; readonly shipDate?: string }[];
  /** Whether HEAD has the ETag of the list. */
  readonly hasEtag: boolean;
  /** The status of cancelling order 1. */
  readonly cancelled: number | undefined;
  /** The error of cancelling order 2. */
  readonly conflict: Refusal;
  /** The error of a list with the exhausted key. */
  readonly limited: Refusal & { readonly waitsSeconds: boolean };
};

type Refusal = { readonly status: number | undefined; readonly code: string | undefined };

export function isWholeSeconds(retryAfter: string | null | undefined): boolean {
  return /^[1-9]\d*$/.test(retryAfter ?? "");
}
