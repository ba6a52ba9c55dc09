/** The page that issues a key and shows its secret once. */
import { useState } from "preact/hooks";
import { jsonOf } from "../admin-client.ts";
import { useAdmin } from "../admin-context.ts";
import type { KeyView } from "../api-types.ts";
import { InputField, SelectField } from "../components/field.tsx";
import { ProblemNotice } from "../components/notices.tsx";
import { Page } from "../components/page.tsx";
import { SecretOnce } from "../components/secret-once.tsx";
import { useSubmit } from "../use-submit.ts";
import { isPlan, LOCATIONS, type Location, limitOf, limitsText, PLANS, textOrNull } from "./key-types.ts";
import { LimitFields } from "./limit-fields.tsx";
import { OwnerFields } from "./owner-fields.tsx";

export function CreateKeyPage() {
  const [issued, setIssued] = useState<KeyView & { readonly key: string }>();
  return (
    <Page title="Create a key" actions={<a href="/console/keys">All keys</a>}>
      {issued ? <Issued issued={issued} /> : <CreateKeyForm onIssued={setIssued} />}
    </Page>
  );
}

function Issued({ issued }: { readonly issued: KeyView & { readonly key: string } }) {
  return (
    <>
      <p role="status">
        Key <strong>{issued.name}</strong> was created: {issued.plan}, {limitsText(issued)}.
      </p>
      <SecretOnce secret={issued.key} />
      <p>
        <a href={`/console/keys/${issued.id}`}>Show this key</a>
      </p>
    </>
  );
}

function CreateKeyForm({
  onIssued,
}: {
  readonly onIssued: (issued: KeyView & { readonly key: string }) => void;
}) {
  const { client } = useAdmin();
  const [name, setName] = useState("");
  const [plan, setPlan] = useState<(typeof PLANS)[number]>("free");
  const [perMinute, setPerMinute] = useState("");
  const [perDay, setPerDay] = useState("");
  const [expires, setExpires] = useState("");
  const [ownerName, setOwnerName] = useState("");
  const [ownerEmail, setOwnerEmail] = useState("");
  const [note, setNote] = useState("");
  const [location, setLocation] = useState<Location | "">("");
  const { submit, problem, isRunning } = useSubmit(async () => {
    const json = {
      name,
      plan,
      ownerName: textOrNull(ownerName),
      ownerEmail: textOrNull(ownerEmail),
      note: textOrNull(note),
      requestsPerMinute: limitOf(perMinute),
      requestsPerDay: limitOf(perDay),
      expiresAt: expires === "" ? null : expires,
      location: location === "" ? null : location,
    };
    onIssued(await jsonOf(client.keys.$post({ json })));
  });
  return (
    <form class="panel" onSubmit={submit}>
      <InputField label="Name" required maxLength={100} autocomplete="off" value={name} onInput={setName} />
      <OwnerFields
        ownerName={ownerName}
        onOwnerName={setOwnerName}
        ownerEmail={ownerEmail}
        onOwnerEmail={setOwnerEmail}
        note={note}
        onNote={setNote}
      />
      <SelectField
        label="Plan"
        value={plan}
        options={PLANS.map((each) => [each, each] as const)}
        onChange={(chosen) => isPlan(chosen) && setPlan(chosen)}
      />
      <LimitFields
        isRequired={plan === "enterprise"}
        perMinute={perMinute}
        onPerMinute={setPerMinute}
        perDay={perDay}
        onPerDay={setPerDay}
      />
      <InputField
        label="Expires (optional)"
        hint="At 00:00 UTC of this day."
        type="date"
        value={expires}
        onInput={setExpires}
      />
      <SelectField
        label="Location of its limiter"
        value={location}
        options={LOCATIONS}
        onChange={(chosen) => setLocation(LOCATIONS.find(([code]) => code === chosen)?.[0] ?? "")}
      />
      {problem && <ProblemNotice problem={problem} />}
      <button type="submit" class="button primary" disabled={isRunning}>
        Create key
      </button>
    </form>
  );
}
