/** The end and the reason of a ban that an operator sets. */
import { InputField, SelectField } from "../components/field.tsx";
import { localOf, utcOf } from "../local-time.ts";

const HOUR = 3_600;
const DAY = 24 * HOUR;
const UNTIL = "until";

const LENGTHS = [
  [String(HOUR / 6), "10 minutes"],
  [String(HOUR), "1 hour"],
  [String(DAY), "24 hours"],
  [String(7 * DAY), "7 days"],
  [String(30 * DAY), "30 days"],
  [String(366 * DAY), "366 days"],
  [UNTIL, "until a time"],
] as const;

export type BanTexts = { readonly length: string; readonly until: string; readonly reason: string };

export const NEW_BAN: BanTexts = { length: String(HOUR), until: "", reason: "" };

/** As the admin API expects it: a length in seconds. */
export function toBanRequest({ length, until, reason }: BanTexts, nowMs: number) {
  const untilMs = Date.parse(utcOf(until) ?? "");
  const seconds = length === UNTIL ? Math.ceil((untilMs - nowMs) / 1000) : Number(length);
  return { seconds, reason };
}

type Props = {
  readonly texts: BanTexts;
  readonly onChange: (update: (latest: BanTexts) => BanTexts) => void;
};

export function BanFields({ texts, onChange }: Props) {
  return (
    <>
      <SelectField
        label="For"
        value={texts.length}
        options={LENGTHS}
        onChange={(length) => onChange((latest) => ({ ...latest, length }))}
      />
      {texts.length === UNTIL && (
        <InputField
          label="Until (your local time)"
          type="datetime-local"
          required
          min={localOf(Date.now() + 60_000)}
          value={texts.until}
          onInput={(until) => onChange((latest) => ({ ...latest, until }))}
        />
      )}
      <InputField
        label="Reason"
        hint="For the list of bans and the audit log. Clients do not see it."
        required
        maxLength={500}
        value={texts.reason}
        onInput={(reason) => onChange((latest) => ({ ...latest, reason }))}
      />
    </>
  );
}
