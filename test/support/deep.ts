/** With DEEP=1 properties run many times with free seeds, else a few times with a fixed seed. */
import fc from "fast-check";
import { inject } from "vitest";

declare module "vitest" {
  interface ProvidedContext {
    deep: boolean;
  }
}

export const DEEP = inject("deep");

const DEEP_FACTOR = 20;

/** How often a property runs. */
export const runs = (quick: number): number => (DEEP ? quick * DEEP_FACTOR : quick);

if (!DEEP) fc.configureGlobal({ seed: 20_261_125 });
