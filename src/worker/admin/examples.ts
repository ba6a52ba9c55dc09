/** What the examples of several calls show. A call checks the types of its example. */

export const CUSTOMER = { id: "cus_7Kq2mXw81ZtB", name: "Pet Shop", email: "ops@petshop.example" };

export const ENTRY = {
  id: 118,
  at: "2026-11-21T10:00:00Z",
  requestId: "8fb8fa07-53c3-4d2f-a4a0-5a7a0e2a5d5b",
  actor: "mo",
  call: "keys.update",
  object: "key_0C8yRw3mQz1T",
  objectName: "Backend of Pet Shop",
  names: {},
  before: { requestsPerMinute: null },
  after: { requestsPerMinute: 600 },
  batch: null,
  undoable: true,
} as const;

export const BAN = {
  id: "ban_0b7c2f3e-6a55-4a4e-9d0c-2f4f1f1f9a10",
  keyId: "key_0C8yRw3mQz1T",
  keyName: "Backend of Pet Shop",
  cause: "operator",
  reason: "Sends each order twice.",
  strikes: 0,
  startedAt: "2026-11-21T10:00:00Z",
  endsAt: "2026-11-21T11:00:00Z",
  liftedAt: null,
  liftedBy: null,
  live: true,
} as const;

export const RANGE = {
  from: "2026-11-21T00:00:00Z",
  to: "2026-11-21T11:00:00Z",
};
export const FIGURES = { admitted: 412, refused: 12, refusedWhileBanned: 0 };
