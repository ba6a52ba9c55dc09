/** A status as a word in a colour. */

const TONES: Readonly<Record<string, string>> = {
  active: "good",
  live: "bad",
  disabled: "warn",
  expired: "warn",
  revoked: "bad",
};

export function StatusBadge({ status }: { readonly status: string }) {
  return <span class={`badge ${TONES[status] ?? ""}`}>{status}</span>;
}
