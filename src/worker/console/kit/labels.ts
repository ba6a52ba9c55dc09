/** The labels of fields. The schemas of the admin API describe the same members for callers of the API. */

import type { ApiError } from "../../platform/errors.ts";
import { describeProblems } from "../../text/check-schema.ts";
import { capital } from "../../text/format.ts";
import { wordsOf } from "../../text/says.ts";

/** One member has one label in each form, true of each call that has it: its words, unless it is listed here. */
const LABELS: Readonly<Record<string, string>> = {
  actor: "Who",
  alertPercents: "Alerts at percent of the day",
  allowBackwards: "The status may go back",
  "allow-backwards": "Let a status go back, as from shipped to pending",
  "allow-rounded": "Load numbers that a program may have rounded",
  call: "Change",
  email: "E-mail",
  expiresAt: "Expires",
  expiringBefore: "Expires before",
  graceSeconds: "Old secrets",
  ids: "Ticked rows",
  into: "Into which customer",
  key: "Key (id)",
  location: "Where its requests are counted",
  mayCancel: "Rights",
  object: "Key, plan, order or customer (id)",
  "restore-cancelled": "Load cancelled orders again",
  seconds: "Duration in seconds",
  to: "Before",
};

export function labelOf(member: string): string {
  return LABELS[member] ?? capital(wordsOf(member));
}

/** Returns the message of an error with the labels of the members that are wrong. */
export function inWords({ message, problems }: ApiError): string {
  const labelled = problems.map(({ member, reason }) => ({ member: member && labelOf(member), reason }));
  return problems.length === 0 ? message : describeProblems(labelled);
}
