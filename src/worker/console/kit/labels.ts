/** The labels of fields. The schemas of the admin API describe the same members for callers of the API. */
import type { ApiError } from "../../platform/errors.ts";
import { describeProblems } from "../../text/check-schema.ts";
import { wordsOf } from "../../text/says.ts";

/** One member has one label in each form. */
const LABELS: Readonly<Record<string, string>> = {
  actor: "Who",
  alertPercents: "Alerts at percent of the day",
  allowBackwards: "The status may go back",
  "allow-backwards": "Let a status go back, as from shipped to pending",
  "allow-rounded": "Load numbers that a program may have rounded",
  by: "By",
  call: "Change",
  complete: "Complete",
  days: "Days",
  "dry-run": "Dry run: count only",
  expiresAt: "Expires",
  expiringBefore: "Expires before",
  from: "From",
  graceSeconds: "Old secrets",
  ids: "Orders",
  key: "Key (id)",
  limits: "Limits",
  location: "Where its requests are counted",
  mayCancel: "Rights",
  name: "Name",
  note: "Note",
  object: "Key, plan or order (id)",
  owner: "Owner",
  ownerEmail: "Owner's e-mail",
  ownerName: "Owner",
  petId: "Pet id",
  plan: "Plan",
  quantity: "Quantity",
  reason: "Reason",
  requestsPerDay: "Requests per day",
  requestsPerMinute: "Requests per minute",
  "restore-cancelled": "Load cancelled orders again",
  search: "Search",
  seconds: "Duration in seconds",
  shipDate: "Ship date",
  status: "Status",
  to: "Before",
  unusedSince: "Unused since",
};

export function labelOf(member: string): string {
  return LABELS[member] ?? wordsOf(member);
}

/** Returns the message of an error with the labels of the members that are wrong. */
export function inWords({ message, problems }: ApiError): string {
  const labelled = problems.map(({ member, reason }) => ({ member: member && labelOf(member), reason }));
  return problems.length === 0 ? message : describeProblems(labelled);
}
