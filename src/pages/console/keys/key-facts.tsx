/** What is stored of a key. */
import { formatNumber } from "../../shared/format.ts";
import type { KeyView } from "../api-types.ts";
import { Fact } from "../components/fact.tsx";
import { Time } from "../components/time.tsx";
import { LOCATIONS } from "./key-types.ts";

export function KeyFacts({ shown }: { readonly shown: KeyView }) {
  const { plan, limits, requestsPerMinute, requestsPerDay, location } = shown;
  return (
    <section>
      <h2>Record</h2>
      <dl class="facts">
        <Fact name="Owner">{ownerText(shown)}</Fact>
        <Fact name="Note">{shown.note ?? "–"}</Fact>
        <Fact name="Plan">{plan}</Fact>
        <Fact name="Requests per minute">{limitText(limits.requestsPerMinute, requestsPerMinute)}</Fact>
        <Fact name="Requests per day">{limitText(limits.requestsPerDay, requestsPerDay)}</Fact>
        <Fact name="Expires">{shown.expiresAt === null ? "never" : <Time iso={shown.expiresAt} />}</Fact>
        <Fact name="Created">
          <Time iso={shown.createdAt} />
        </Fact>
        <Fact name="First used">
          {shown.firstUsedAt === null ? "never" : <Time iso={shown.firstUsedAt} />}
        </Fact>
        <Fact name="Last used">
          {shown.lastUsedDay ?? (shown.firstUsedAt === null ? "never" : "not reported yet")}
        </Fact>
        <Fact name="Location">{LOCATIONS.find(([code]) => code === (location ?? ""))?.[1]}</Fact>
      </dl>
    </section>
  );
}

function limitText(effective: number, own: number | null): string {
  return `${formatNumber(effective)} (${own === null ? "the plan's" : "its own"})`;
}

function ownerText({ ownerName, ownerEmail }: KeyView): string {
  if (ownerName !== null && ownerEmail !== null) return `${ownerName}, ${ownerEmail}`;
  return ownerName ?? ownerEmail ?? "–";
}
