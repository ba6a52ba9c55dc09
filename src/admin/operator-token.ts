/** What an operator's token must be. Pure. */

/** 32 characters of any alphabet a generator uses are far beyond guessing. */
export const SHORTEST_ADMIN_TOKEN = 32;
