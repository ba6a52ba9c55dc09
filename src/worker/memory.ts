/**
 * How an isolate's 128 MB are shared, in bytes. Lists and an upload fit together: 64 MB, and 44 MB for a file
 * that is a JSON array, which is in memory as form, file, text and values. The rest is for code and requests.
 */

const MB = 1024 * 1024;

/** The list of orders that is kept, of some 300,000 orders. A larger one is read while it is sent. */
export const MAX_LIST_BYTES = 32 * MB;

/** The list that is kept and the bodies that are still being sent. Beyond this, the oldest bodies end. */
export const MAX_LISTS_BYTES = 2 * MAX_LIST_BYTES;

/** The file that a form of the console sends: some 60,000 orders. */
export const MAX_UPLOAD_BYTES = 8 * MB;
