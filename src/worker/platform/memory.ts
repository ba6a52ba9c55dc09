/**
 * How an isolate's 128 MB are shared, in bytes. Lists take up to 64 MB. An upload takes up to 56 MB with
 * garbage, 34 of them for the form and its file. The file is read in pieces. The rest is for code and requests.
 */

const MB = 1024 * 1024;

/** The largest list that an isolate keeps: some 300,000 orders. A larger list is read while it is sent. */
export const MAX_LIST_BYTES = 32 * MB;

/** The kept list and all bodies that are being sent. Beyond this size, the oldest bodies end. */
export const MAX_LISTS_BYTES = 2 * MAX_LIST_BYTES;

/** The largest file of a console form: some 60,000 orders. */
export const MAX_UPLOAD_BYTES = 8 * MB;
