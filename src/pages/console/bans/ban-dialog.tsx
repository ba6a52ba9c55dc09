/** Sets an operator ban, of a given key or of one that is found here. */
import { useState } from "preact/hooks";
import { counted, formatTime } from "../../shared/format.ts";
import { jsonOf } from "../admin-client.ts";
import { useAdmin } from "../admin-context.ts";
import type { KeyPage, KeyView } from "../api-types.ts";
import { lookBeforeChange, notShown, requireShown } from "../changes.ts";
import { ActionDialog } from "../components/action-dialog.tsx";
import { InputField, SelectField } from "../components/field.tsx";
import { keysBy, noneText } from "../keys/find-keys.ts";
import { Problem } from "../problem.ts";
import { useLoad } from "../use-load.ts";
import { BanFields, NEW_BAN, toBanRequest } from "./ban-fields.tsx";
import { loadLiveBans, ReplacedBans, replacedText } from "./live-bans.tsx";

type BannedKey = { readonly id: string; readonly name: string };

type Props = {
  /** Undefined: the dialog asks for it. */
  readonly bannedKey?: BannedKey;
  readonly onChanged: () => Promise<void>;
  readonly onClose: () => void;
};

const MAX_KEYS_FOUND = 20;
const CONTINUE = "Choose Find key again to continue, or type the key's id or the end of its secret.";

/** `next`: where to continue the search for what was typed; null: all keys were searched. */
type Searched = { readonly typed: string } & KeyPage;

export function BanDialog({ bannedKey, onChanged, onClose }: Props) {
  const { client, announce } = useAdmin();
  const [typed, setTyped] = useState("");
  const [searched, setSearched] = useState<Searched>({ typed: "", keys: [], next: null });
  const [chosen, setChosen] = useState("");
  const [texts, setTexts] = useState(NEW_BAN);
  const { keys: found, next } = searched.typed === typed ? searched : { keys: [], next: null };
  const target = bannedKey ?? found.find(({ id }) => id === chosen);
  const live = useLoad(async () => (target ? loadLiveBans(client, target.id) : []), target?.id ?? "");

  const find = async () => {
    const page = await keysBy(client, typed, MAX_KEYS_FOUND, next);
    const all = [...(next === null ? [] : found), ...page.keys];
    const keys = [...new Map(all.map((key) => [key.id, key])).values()];
    setSearched({ typed, keys, next: page.next });
    // A reason that was typed for another key: Enter would ban this one at once.
    setTexts(NEW_BAN);
    setChosen((isOnly({ keys, next: page.next }) && keys[0]?.id) || "");
    if (keys.length > 0) return;
    const advice = page.next === null ? "Type another part of its name or owner, or its id." : CONTINUE;
    throw new Problem("not-found", noneText(page, "No key matches."), advice);
  };
  const shown = live.data ?? [];
  const look = async (key: BannedKey, left: AbortSignal) =>
    requireShown(shown, await lookBeforeChange(() => loadLiveBans(client, key.id), left));
  const ban = async (key: BannedKey) => {
    const call = client.keys[":id"].ban.$put({
      param: { id: key.id },
      json: toBanRequest(texts, Date.now()),
    });
    const { ban: set, effective, replaced } = await jsonOf(call, "ban", "effective");
    // A ban that was set after the look at the live ones.
    const others = replacedText(notShown(shown, replaced));
    // The service counts from its own clock: by that of this device, the end can be another one than was typed.
    const until = formatTime(set.endsAt);
    announce(`${key.name} is banned until ${until}, effective ${effective}.${others}`);
  };
  return (
    <ActionDialog
      title={target ? `Ban ${target.name}?` : "Ban a key"}
      action={target ? "Ban" : "Find key"}
      isDangerous={target !== undefined}
      isStep={target === undefined}
      look={target && ((left) => look(target, left))}
      run={() => (target ? ban(target) : find())}
      onChanged={onChanged}
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
          onInput={setTyped}
        />
      )}
      {!bannedKey && (
        <p role="status">
          {found.length > 0 && `${counted(found.length, "key")} found.`}
          {found.length > 0 && next !== null && !target && ` More may match. ${CONTINUE}`}
        </p>
      )}
      {found.length > 0 && (
        <SelectField
          label="Keys found"
          value={chosen}
          options={[
            ...(isOnly({ keys: found, next }) ? [] : [["", "Choose one"] as const]),
            ...found.map((key) => [key.id, describe(key)] as const),
          ]}
          onChange={setChosen}
        />
      )}
      {target && (
        <>
          <p>
            Requests with this key are answered 429 until the ban ends or is lifted, or 401 while the key is
            disabled, expired or revoked.
          </p>
          <ReplacedBans live={live} />
          <BanFields texts={texts} onChange={setTexts} />
        </>
      )}
    </ActionDialog>
  );
}

/** Whether no other key matches. */
function isOnly({ keys, next }: KeyPage): boolean {
  return keys.length === 1 && next === null;
}

function describe({ id, name, ownerName, ownerEmail, plan, status }: KeyView): string {
  return [name, ownerName ?? ownerEmail, plan, status, id].filter(Boolean).join(", ");
}
