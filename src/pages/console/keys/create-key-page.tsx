/** The page that issues a key and shows its secret once. */
import { useState } from "preact/hooks";
import { jsonOf } from "../admin-client.ts";
import { useAdmin } from "../admin-context.ts";
import type { KeyView } from "../api-types.ts";
import { SelectField } from "../components/field.tsx";
import { ProblemNotice } from "../components/notices.tsx";
import { Page } from "../components/page.tsx";
import { SecretOnce } from "../components/secret-once.tsx";
import { useSubmit } from "../use-submit.ts";
import { KeyFields, NEW_KEY, toKeyRequest } from "./key-fields.tsx";
import { LOCATIONS, type Location, limitsText } from "./key-types.ts";

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
  const { client, warn } = useAdmin();
  const [texts, setTexts] = useState(NEW_KEY);
  const [location, setLocation] = useState<Location | "">("");
  const { submit, problem, isRunning } = useSubmit(
    async (left) => {
      const json = { ...toKeyRequest(texts), location: location === "" ? null : location };
      const issued = await jsonOf(client.keys.$post({ json }), "id", "key", "limits");
      if (left.aborted) warn(`${issued.name} was created, but its secret was not shown: rotate the key.`);
      else onIssued(issued);
    },
    { name: `Create key ${texts.name}`, makesSecret: true },
  );
  return (
    <form class="panel" onSubmit={(event) => (isRunning ? event.preventDefault() : submit(event))}>
      <KeyFields texts={texts} onChange={setTexts} />
      <SelectField
        label="Location of its limiter"
        value={location}
        options={LOCATIONS}
        onChange={(chosen) => setLocation(LOCATIONS.find(([code]) => code === chosen)?.[0] ?? "")}
      />
      {problem && <ProblemNotice problem={problem} />}
      <button type="submit" class="button primary" aria-disabled={isRunning}>
        Create key
      </button>
    </form>
  );
}
