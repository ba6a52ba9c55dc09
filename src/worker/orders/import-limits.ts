/** Bounds of an import. Pure. */

/** After so many refused lines an import stops: a file of something else must not be read to its end. */
export const DEFAULT_REFUSED_LINES = 1_000;

/** An answer has at most some 5 MB: a reason has up to 500 characters. */
export const MAX_REFUSED_LINES = 10_000;

export const MAX_FILE_NAME_CHARS = 255;

/** That clients send: five of the Worker's chunks, within the 50 queries per request of Cloudflare's free plan. */
export const MAX_ORDERS_PER_REQUEST = 5_000;
