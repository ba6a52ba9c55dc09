/** The address of the keys page as a query of the admin API. Pure: the present time is a parameter. */
import { isKeySort, isKeyStatus, isPlan } from "./key-types.ts";

const DAY_MS = 86_400_000;
const DAYS = 30;

/** What the admin API does not know is left out: someone may have changed the address. */
export function listQueryOf(query: Readonly<Record<string, string>>, nowMs: number) {
  const { plan, status, search, time, sort, after } = query;
  return {
    ...(isPlan(plan) ? { plan } : {}),
    ...(isKeyStatus(status) ? { status } : {}),
    ...(search ? { search } : {}),
    ...(time === "expiring" ? expiring(nowMs) : {}),
    ...(time === "unused" ? unused(nowMs) : {}),
    ...(isKeySort(sort) ? { sort } : {}),
    ...(after ? { after } : {}),
  };
}

/** Keys expire at whole seconds. */
export function expiring(nowMs: number) {
  const nextSecondMs = (Math.floor(nowMs / 1_000) + 1) * 1_000;
  return { expiringBefore: new Date(nextSecondMs + DAYS * DAY_MS).toISOString() };
}

export function unused(nowMs: number) {
  return { unusedSince: dayOf(nowMs - DAYS * DAY_MS) };
}

function dayOf(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 10);
}
