/** The form of the code of an owner's link: `sol_`, a secret (34 characters) and a MAC (6), in base62 (ADR-34). */
import { MAC_LENGTH, type RandomBytes, randomDigits } from "./key.ts";

const SECRET_LENGTH = 34;
const CODE = new RegExp(
  `(?<signed>sol_[0-9A-Za-z]{${SECRET_LENGTH}})(?<mac>[0-9A-Za-z]{${MAC_LENGTH}})(?![0-9A-Za-z])`,
);

export type OwnerCode = {
  readonly code: string;
  /** The text that the MAC signs. */
  readonly signed: string;
  readonly mac: string;
};

/** Finds a code in a text, as in a whole link. */
export function ownerCodeIn(text: string): OwnerCode | undefined {
  const [code, signed, mac = ""] = CODE.exec(text) ?? [];
  return code === undefined || signed === undefined ? undefined : { code, signed, mac };
}

/** Makes a code without its MAC. */
export function mintUnsignedCode(randomBytes: RandomBytes): string {
  return `sol_${randomDigits(SECRET_LENGTH, randomBytes)}`;
}
