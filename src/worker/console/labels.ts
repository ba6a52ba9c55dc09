/** The members of the admin API in the words of the console. */
const LABELS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ownerName: "owner",
    ownerEmail: "e-mail",
    requestsPerMinute: "limit per minute",
    requestsPerDay: "limit per day",
    expiresAt: "expiry",
    expiringBefore: "expires before",
    unusedSince: "unused since",
    graceSeconds: "time for old secrets",
    seconds: "duration in seconds",
    shipDate: "ship date",
    petId: "pet id",
    allowBackwards: "“The status may go back”",
  }),
);

export function labelOf(member: string): string {
  return LABELS.get(member) ?? member;
}

/** An error of the admin API. `name: must not be empty` stays as it is. */
export function inWords(message: string): string {
  return message.replace(/\b[a-z]+[A-Z]\w*|\bseconds(?=:)/g, labelOf);
}
