/** A difference between what is and what must be. */
export class Difference extends Error {}

/** In JSON, NaN and Infinity are null. */
const textOf = (value: unknown) =>
  JSON.stringify(value, (_, each) => (Number.isFinite(each) || typeof each !== "number" ? each : `${each}`));

export function expect(what: string, is: unknown, must: unknown): void {
  const [text, wanted] = [textOf(is), textOf(must)];
  if (text !== wanted) throw new Difference(`${what}: ${text}, not ${wanted}`);
}
