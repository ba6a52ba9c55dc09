/** The bans page: live bans with countdown, and past ones. */

import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { jsonOf } from "../admin-client.ts";
import { useAdmin } from "../admin-context.ts";
import type { BanView } from "../api-types.ts";
import { WhenLoaded } from "../components/notices.tsx";
import { Page } from "../components/page.tsx";
import { Pager } from "../components/pager.tsx";
import { type Column, Table } from "../components/table.tsx";
import { Countdown, Time } from "../components/time.tsx";
import { addressOf } from "../query.ts";
import { useLoad } from "../use-load.ts";
import { BanDialog } from "./ban-dialog.tsx";
import { LiftDialog } from "./lift-dialog.tsx";
import { causeText, LiveBans } from "./live-bans.tsx";

const REFRESH_MS = 30_000;
const BANS_SHOWN = 100;
const PATH = "/console/bans";

export function BansPage() {
  const { client } = useAdmin();
  const { query } = useLocation();
  const filter = { ...(query.key === undefined ? {} : { key: query.key }), limit: String(BANS_SHOWN) };
  const load = (state: "live" | "past", after: string | undefined) =>
    jsonOf(client.bans.$get({ query: { ...filter, ...(after ? { after } : {}), state } }), "bans", "next");
  const live = useLoad(() => load("live", query.live), JSON.stringify([query.key, query.live]), {
    everyMs: REFRESH_MS,
  });
  // A ban that ends leaves the first list for the second one.
  const past = useLoad(() => load("past", query.after), JSON.stringify([query.key, query.after]), {
    everyMs: REFRESH_MS,
  });
  const [open, setOpen] = useState<BanView>();
  const [isBanning, setIsBanning] = useState(false);
  const reload = async () => {
    await Promise.all([live.reload(), past.reload()]);
  };
  return (
    <Page
      title="Bans"
      actions={
        <button type="button" class="button danger" onClick={() => setIsBanning(true)}>
          Ban a key…
        </button>
      }
    >
      {query.key !== undefined && (
        <p>
          Of key <code>{query.key}</code> only. <a href={PATH}>Bans of all keys</a>
        </p>
      )}
      <h2>Live</h2>
      <WhenLoaded loaded={live}>
        {({ bans, next }) => (
          <>
            <LiveBans
              columns={liveColumns(setOpen)}
              bans={bans}
              empty={query.live ? "No more live bans." : undefined}
            />
            <Pager
              label="Pages of live bans"
              first={query.live ? addressOf(PATH, { ...query, live: "" }) : undefined}
              next={next === null ? undefined : addressOf(PATH, { ...query, live: next })}
            />
          </>
        )}
      </WhenLoaded>
      <h2>Past</h2>
      <WhenLoaded loaded={past}>
        {({ bans, next }) => (
          <>
            <Table
              caption="Past bans"
              columns={PAST_COLUMNS}
              rows={bans}
              rowKey={(ban) => ban.id}
              empty={query.after ? "No more past bans." : "No past bans."}
            />
            <Pager
              label="Pages of past bans"
              first={query.after ? addressOf(PATH, { ...query, after: "" }) : undefined}
              next={next === null ? undefined : addressOf(PATH, { ...query, after: next })}
            />
          </>
        )}
      </WhenLoaded>
      {isBanning && <BanDialog onChanged={reload} onClose={() => setIsBanning(false)} />}
      {open && (
        <LiftDialog
          keyId={open.keyId}
          keyName={open.keyName ?? open.keyId}
          onChanged={reload}
          onClose={() => setOpen(undefined)}
        />
      )}
    </Page>
  );
}

const KEY: Column<BanView> = {
  name: "Key",
  cell: (ban) => <a href={`/console/keys/${ban.keyId}`}>{ban.keyName ?? ban.keyId}</a>,
};
const CAUSE: Column<BanView> = { name: "Cause", cell: causeText };
const STARTED: Column<BanView> = { name: "Started", cell: (ban) => <Time iso={ban.startedAt} /> };
const REASON: Column<BanView> = { name: "Reason", cell: (ban) => ban.reason ?? "–" };

function liveColumns(lift: (ban: BanView) => void): Column<BanView>[] {
  return [
    KEY,
    { name: "Ends in", cell: (ban) => <Countdown until={ban.endsAt} /> },
    CAUSE,
    REASON,
    STARTED,
    {
      name: "Action",
      cell: (ban) => (
        <button
          type="button"
          class="button small"
          aria-label={`Lift: ${ban.keyName ?? ban.keyId}…`}
          onClick={() => lift(ban)}
        >
          Lift…
        </button>
      ),
    },
  ];
}

const PAST_COLUMNS: readonly Column<BanView>[] = [
  KEY,
  { name: "Ended", cell: (ban) => <Time iso={ban.liftedAt ?? ban.endsAt} /> },
  CAUSE,
  REASON,
  STARTED,
  { name: "Would have ended", cell: (ban) => (ban.liftedAt === null ? "–" : <Time iso={ban.endsAt} />) },
  { name: "Ended by", cell: (ban) => ban.liftedBy ?? "–" },
];
