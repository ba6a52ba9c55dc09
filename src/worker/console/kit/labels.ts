/** Names the members of the admin API in the words of the console. */
import { CALLS } from "../../admin/calls.ts";
import type { ApiError } from "../../platform/errors.ts";
import { describeProblems } from "../../text/check-schema.ts";
import { memberOf } from "./members.ts";

const SCHEMAS = CALLS.flatMap(({ body, query }) => [body, query]).filter((schema) => schema !== undefined);

/** Returns the title of a member for use in a sentence. Without a title, `endsAt` is `ends at`. */
export function labelOf(member: string): string {
  const schema = SCHEMAS.find(({ entries }) => Object.hasOwn(entries, member));
  const { title } = schema ? memberOf(schema, member) : { title: member };
  if (title === member) return member.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return title.charAt(0).toLowerCase() + title.slice(1);
}

/** Returns the message of an error with the labels of the members that are wrong. */
export function inWords({ message, problems }: ApiError): string {
  const labelled = problems.map(({ member, reason }) => ({ member: member && labelOf(member), reason }));
  return problems.length === 0 ? message : describeProblems(labelled);
}
