/** After how many refused lines an import stops: a file of something else must not be read to its end. Pure. */

export const DEFAULT_REFUSED_LINES = 1_000;

/** With `MAX_REASON_CHARS`, an answer has at most some 5 MB. */
export const MAX_REFUSED_LINES = 10_000;

/** A reason repeats names from the file. */
export const MAX_REASON_CHARS = 500;
