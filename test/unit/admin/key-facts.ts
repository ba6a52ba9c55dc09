/** A key of which nothing has happened. */
import type { KeyFacts } from "../../../src/worker/admin/key-history.ts";

export const KEY = {
  id: "key_1",
  name: "k",
  ownerName: null,
  ownerEmail: null,
  note: null,
  plan: "free",
  status: "active",
  limits: { requestsPerMinute: 60, requestsPerDay: 1_000 },
  requestsPerMinute: null,
  requestsPerDay: null,
  expiresAt: null,
  createdAt: "2038-05-01T00:00:00Z",
  location: null,
  firstUsedAt: null,
  lastUsedDay: null,
  version: 1,
  secrets: [],
} as const;

export const FACTS: KeyFacts = {
  key: KEY,
  bans: [],
  bansSinceMs: 0,
  changes: [],
  knownSinceMs: 0,
  plan: { requestsPerMinute: 60, requestsPerDay: 1_000 },
  planChanges: [],
  hours: [],
  usageSinceMs: 0,
};
