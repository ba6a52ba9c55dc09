/** 32 hex digits. `crypto.randomUUID` needs HTTPS, which a console in a test network may not have. */
export function randomId(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
}
