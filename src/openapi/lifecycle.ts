/**
 * The stability and the deprecation of each public operation. Both the response headers and the OpenAPI document are
 * generated from this table.
 *
 * Pure: dates and `nowMs` are parameters.
 */

export type OperationId = "listOrders" | "cancelOrder" | "getPet";

export type Lifecycle = {
  /** Stable if absent. */
  readonly stability?: "experimental" | "beta";
  readonly deprecation?: Deprecation;
};

export type Deprecation = {
  /** The operation is deprecated from the start of this UTC day on. */
  readonly deprecatedDate: string;
  /** The operation is gone from the start of this UTC day on. */
  readonly sunsetDate: string;
};

/** The date of version 1.0.0: the operation has always been deprecated. */
export const PETS_DEPRECATED_DATE = "2026-11-21";

export function lifecyclesOf(settings: { petsSunsetDate: string }): Readonly<Record<OperationId, Lifecycle>> {
  return {
    listOrders: {},
    cancelOrder: {},
    getPet: {
      // It never returned a pet (ADR-15).
      stability: "experimental",
      deprecation: { deprecatedDate: PETS_DEPRECATED_DATE, sunsetDate: settings.petsSunsetDate },
    },
  };
}

/** `Deprecation` (RFC 9745: a structured field's date) and `Sunset` (RFC 8594: an HTTP date). */
export function deprecationHeaders(deprecation: Deprecation): { Deprecation: string; Sunset: string } {
  return {
    Deprecation: `@${startOfDayMs(deprecation.deprecatedDate) / 1000}`,
    Sunset: new Date(startOfDayMs(deprecation.sunsetDate)).toUTCString(),
  };
}

export function hasSunset(deprecation: Deprecation, nowMs: number): boolean {
  return nowMs >= startOfDayMs(deprecation.sunsetDate);
}

function startOfDayMs(date: string): number {
  return Date.parse(`${date}T00:00:00Z`);
}
