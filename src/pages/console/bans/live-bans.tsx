/** Live bans: the table of them, and those of a key in the dialogs that lift or replace them. */
import { counted, formatTime } from "../../shared/format.ts";
import { type AdminClient, jsonOf } from "../admin-client.ts";
import type { BanView } from "../api-types.ts";
import { Fact } from "../components/fact.tsx";
import { WhenLoaded } from "../components/notices.tsx";
import { type Column, Table } from "../components/table.tsx";
import { RelativeTime, Time } from "../components/time.tsx";
import type { Loaded } from "../use-load.ts";

export async function loadLiveBans(client: AdminClient, key: string): Promise<readonly BanView[]> {
  return (await jsonOf(client.bans.$get({ query: { key, state: "live" } }), "bans")).bans;
}

type LiveBansProps = {
  readonly columns: readonly Column<BanView>[];
  readonly bans: readonly BanView[];
  readonly empty?: string | undefined;
};

export function LiveBans({ columns, bans, empty = "No key is banned." }: LiveBansProps) {
  return <Table caption="Live bans" columns={columns} rows={bans} rowKey={(ban) => ban.id} empty={empty} />;
}

export function BanFacts({ ban }: { readonly ban: BanView }) {
  return (
    <dl class="facts">
      <Fact name="Cause">{causeText(ban)}</Fact>
      <Fact name="Reason">{ban.reason ?? "–"}</Fact>
      <Fact name="Started">
        <Time iso={ban.startedAt} />
      </Fact>
      <Fact name="Ends">
        <Time iso={ban.endsAt} />, <RelativeTime iso={ban.endsAt} />
      </Fact>
    </dl>
  );
}

export function causeText({ cause, strikes }: BanView): string {
  return cause === "operator" ? cause : counted(strikes, "strike");
}

/** What a new ban replaces, also if it ends earlier. */
export function ReplacedBans({ live }: { readonly live: Loaded<readonly BanView[]> }) {
  return (
    <WhenLoaded loaded={live}>
      {(bans) =>
        bans.length > 0 && (
          <>
            <p>It replaces this ban, also if that ends later:</p>
            {bans.map((ban) => (
              <BanFacts key={ban.id} ban={ban} />
            ))}
          </>
        )
      }
    </WhenLoaded>
  );
}

/** Of bans that a new one has replaced although the dialog did not show them. */
export function replacedText(bans: readonly BanView[]): string {
  if (bans.length === 0) return "";
  const described = bans.map((ban) => {
    const reason = ban.reason === null ? "" : ` (${ban.reason})`;
    return `${causeText(ban)}, until ${formatTime(ban.endsAt)}${reason}`;
  });
  return ` It replaced ${counted(bans.length, "ban")} that the dialog did not show: ${described.join("; ")}.`;
}
