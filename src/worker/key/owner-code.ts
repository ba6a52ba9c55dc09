/**
 * The form of the code of an owner's link: `sol_`, the customer (8 characters), a secret (26) and a MAC (6), in
 * base62 (ADR-34). Pure: random bytes are a parameter.
 */
import { base62, MAC_LENGTH, type RandomBytes, randomDigits, SECRET_LENGTH } from "./key.ts";

const CUSTOMER_LENGTH = 8;
const CODE = new RegExp(
  `(?<signed>sol_(?<customer>[0-9A-Za-z]{${CUSTOMER_LENGTH}})[0-9A-Za-z]{${SECRET_LENGTH}})(?<mac>[0-9A-Za-z]{${MAC_LENGTH}})(?![0-9A-Za-z])`,
);

export type OwnerCode = {
  readonly code: string;
  /** Names the limiter of all links of the customer, without a query. */
  readonly customer: string;
  /** The text that the MAC signs. */
  readonly signed: string;
  readonly mac: string;
};

/** Finds a code in a text, as in a whole link. */
export function ownerCodeIn(text: string): OwnerCode | undefined {
  const [code, signed, customer = "", mac = ""] = CODE.exec(text) ?? [];
  return code === undefined || signed === undefined ? undefined : { code, customer, signed, mac };
}

/** Makes a code without its MAC. `ownerHash` is the SHA-256 of the folded owner. */
export function mintUnsignedCode(ownerHash: string, randomBytes: RandomBytes): string {
  const customer = base62(Number.parseInt(ownerHash.slice(0, 12), 16), CUSTOMER_LENGTH);
  return `sol_${customer}${randomDigits(SECRET_LENGTH, randomBytes)}`;
}
