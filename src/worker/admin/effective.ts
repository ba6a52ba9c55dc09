/** When a change takes effect. */
import type { Bindings } from "../context.ts";
import { settingsOf } from "../settings.ts";

/** Immediately if the key's limiter was told; otherwise once the policy that the limiter has is too old (ADR-4). */
export type Effective = "immediately" | `within ${number} seconds`;

export function effective(env: Bindings, isLimiterTold: boolean): Effective {
  return isLimiterTold ? "immediately" : `within ${settingsOf(env).policyMaxAgeSeconds} seconds`;
}
