/** Sets an operator ban, of a given key or of one that is found here. */
import { useState } from "preact/hooks";
import { counted } from "../../shared/format.ts";
import { jsonOf } from "../admin-client.ts";
import { useAdmin } from "../admin-context.ts";
import type { KeyView } from "../api-types.ts";
import { ActionDialog } from "../components/action-dialog.tsx";
import { InputField, SelectField } from "../components/field.tsx";
import { keysBy } from "../keys/find-keys.ts";
import { Problem } from "../problem.ts";
import { BanFields, toBanRequest, useBanTexts } from "./ban-fields.tsx";
import { ReplacedBans } from "./live-bans.tsx";

type BannedKey = { readonly id: string; readonly name: string };

type Props = {
  /** Undefined: the dialog asks for it. */
  readonly bannedKey?: BannedKey;
  readonly onChanged: () => Promise<void>;
  readonly onClose: () => void;
};

const MAX_KEYS_FOUND = 20;

const NOT_ALL_REPLACED =
  "If the limiter has a ban for strikes that it has not reported yet, that ban stays: set the ban again later.";

export function BanDialog({ bannedKey, onChanged, onClose }: Props) {
  const { client, announce } = useAdmin();
  const [typed, setTyped] = useState("");
  const [found, setFound] = useState<readonly KeyView[]>([]);
  const [chosen, setChosen] = useState("");
  const [texts, setTexts] = useBanTexts();
  const target = bannedKey ?? found.find(({ id }) => id === chosen);

  const find = async () => {
    const keys = await keysBy(client, typed, MAX_KEYS_FOUND);
    if (keys.length === 0)
      throw new Problem("not-found", "No key matches.", "Type another part of its name or owner, or its id.");
    setFound(keys);
    setChosen(keys.length === 1 ? (keys[0]?.id ?? "") : "");
  };
  const ban = async (key: BannedKey) => {
    const call = client.keys[":id"].ban.$put({
      param: { id: key.id },
      json: toBanRequest(texts, Date.now()),
    });
    const { effective, replacedAll } = await jsonOf(call);
    // An older version of the service answers without it.
    const left = replacedAll === false ? ` ${NOT_ALL_REPLACED}` : "";
    announce(`${key.name} is banned, effective ${effective}.${left}`);
    await onChanged();
  };
  return (
    <ActionDialog
      title={target ? `Ban ${target.name}?` : "Ban a key"}
      action={target ? "Ban" : "Find key"}
      isDangerous={target !== undefined}
      isStep={target === undefined}
      run={() => (target ? ban(target) : find())}
      onClose={onClose}
    >
      {!bannedKey && (
        <InputField
          label="Key"
          type="search"
          hint="Its id, a part of its name or owner, its masked secret or the end of it, or a whole one, which is hashed in the browser."
          required
          autocomplete="off"
          spellcheck={false}
          value={typed}
          onInput={(text) => {
            setTyped(text);
            setFound([]);
          }}
        />
      )}
      {!bannedKey && <p role="status">{found.length > 0 && `${counted(found.length, "key")} found.`}</p>}
      {found.length > 0 && (
        <SelectField
          label="Keys found"
          value={chosen}
          options={[
            ...(found.length > 1 ? [["", "Choose one"] as const] : []),
            ...found.map((key) => [key.id, describe(key)] as const),
          ]}
          onChange={setChosen}
        />
      )}
      {target && (
        <>
          <p>Requests with this key are answered 429 until the ban ends or is lifted.</p>
          <ReplacedBans keyId={target.id} />
          <BanFields texts={texts} onChange={setTexts} />
        </>
      )}
    </ActionDialog>
  );
}

function describe({ id, name, ownerName, ownerEmail, plan, status }: KeyView): string {
  return [name, ownerName ?? ownerEmail, plan, status, id].filter(Boolean).join(", ");
}
