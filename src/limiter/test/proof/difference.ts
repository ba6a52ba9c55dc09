/** A difference between what is and what must be. */
export class Difference extends Error {}

export function expect(what: string, is: unknown, must: unknown): void {
  const [text, wanted] = [JSON.stringify(is), JSON.stringify(must)];
  if (text !== wanted) throw new Difference(`${what}: ${text}, not ${wanted}`);
}
