/** A whole number as the value of an option, for the programs of the tests. */
import { InvalidArgumentError } from "commander";

export const MAX_SEED = 2 ** 31 - 1;

export const wholeNumber = (min: number, max: number) => (text: string) => {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= min && value <= max) return value;
  throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
};
