/** The page of one key: what it does now, what it may do, and everything an operator can change. */

import { useCallback, useEffect, useState } from "preact/hooks";
import { useRoute } from "preact-iso";
import { maskKey } from "../../../worker/auth/key.ts";
import { CopyButton } from "../../shared/copy-button.tsx";
import { jsonOf } from "../admin-client.ts";
import { useAdmin } from "../admin-context.ts";
import type { KeyView } from "../api-types.ts";
import { WhenLoaded } from "../components/notices.tsx";
import { Page } from "../components/page.tsx";
import { SecretOnce } from "../components/secret-once.tsx";
import { StatusBadge } from "../components/status-badge.tsx";
import { useLoad } from "../use-load.ts";
import { KeyActions } from "./key-actions.tsx";
import { KeyFacts } from "./key-facts.tsx";
import { KeyHistory } from "./key-history.tsx";
import { KeyLive } from "./key-live.tsx";
import { KeySecrets } from "./key-secrets.tsx";
import { KeyUsage } from "./key-usage.tsx";

const REFRESH_MS = 5_000;

export function KeyPage() {
  const { client } = useAdmin();
  // The typed client does not encode it: an address with `..%2F` would lead to another call of the admin API.
  const id = encodeURIComponent(useRoute().params.id ?? "");
  const load = () => jsonOf(client.keys[":id"].$get({ param: { id } }), "limits", "live", "secrets");
  const loaded = useLoad(load, id, { everyMs: REFRESH_MS });
  const [secret, setSecret] = useState<{ readonly keyId: string; readonly secret: string }>();
  // The page of another key is the same component.
  useEffect(() => () => setSecret(undefined), [id]);
  const isShown = secret?.keyId === id && !isOver(secret.secret, loaded.data);
  const [changes, setChanges] = useState(0);
  const { reload } = loaded;
  const onChanged = useCallback(async () => {
    setChanges((count) => count + 1);
    await reload();
  }, [reload]);
  return (
    <Page title={loaded.data?.name ?? "Key"} actions={<a href="/console/keys">All keys</a>}>
      <p class="id">
        <code>{id}</code> <CopyButton text={id} label="Copy the id" />
        {loaded.data && <StatusBadge status={loaded.data.status} />}
      </p>
      {isShown && <SecretOnce secret={secret.secret} />}
      <WhenLoaded loaded={loaded}>
        {(key) => (
          <>
            <KeyActions
              shown={key}
              onChanged={onChanged}
              onSecret={(issued) => setSecret({ keyId: id, secret: issued })}
            />
            <KeyLive live={key.live} />
            <div class="columns">
              <KeyFacts shown={key} />
              <KeySecrets shown={key} onChanged={onChanged} />
            </div>
          </>
        )}
      </WhenLoaded>
      {loaded.data && <KeyHistory id={id} changes={changes} />}
      {loaded.data && <KeyUsage id={id} />}
    </Page>
  );
}

/** Whether the secret was replaced or the key revoked, by what was loaded last: it may have been loaded before the secret was made. */
function isOver(secret: string, key: KeyView | undefined): boolean {
  const loaded = key?.secrets.find(({ hint }) => hint === maskKey(secret));
  return key?.status === "revoked" || (loaded !== undefined && loaded.expiresAt !== null);
}
