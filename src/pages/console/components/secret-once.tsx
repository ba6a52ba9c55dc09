/** A new secret, which the service shows only now. */
import { CopyButton } from "../../shared/copy-button.tsx";

export function SecretOnce({ secret }: { readonly secret: string }) {
  return (
    <div class="notice good">
      <p>
        <strong>The secret, shown only now.</strong> Copy it before you leave this page: the service stores
        only its hash.
      </p>
      <p class="secret">
        <code>{secret}</code> <CopyButton text={secret} label="Copy the secret" />
      </p>
    </div>
  );
}
