/** How pages show a ban. */

import type { ListedBan } from "../../admin/bans/schema.ts";
import { counted } from "../../text/format.ts";
import { Basis, Submit } from "../kit/ui.tsx";

type OfBan = { readonly ban: ListedBan };

export function BannedKey({ ban: { keyId, keyName } }: OfBan) {
  return <a href={`/console/keys/${keyId}`}>{keyName ?? keyId}</a>;
}

export function BanReason({ ban: { reason, strikes } }: OfBan) {
  return <>{reason ?? `${counted(strikes, "second")} over the limit`}</>;
}

/** A lift ends all live bans of the key. A ban that has ended has none, nor has the ban of a deleted key. */
export function LiftForm({ ban: { keyId, keyVersion, live } }: OfBan) {
  if (keyVersion === null || !live) return null;
  return (
    <form method="post" action={`/console/keys/${keyId}/lift`}>
      <Basis version={keyVersion} />
      <Submit tone="small">Lift</Submit>
    </form>
  );
}
