/** Tabs, as in the ARIA Authoring Practices: the arrow keys lead to the next one and choose it. */
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

export type Tab = { readonly id: string; readonly name: string; readonly content: ComponentChildren };

type Props = {
  readonly label: string;
  readonly tabs: readonly Tab[];
  readonly chosen: string;
  readonly onChoose: (id: string) => void;
};

export function Tabs({ label, tabs, chosen, onChoose }: Props) {
  const prefix = useId();
  const shown = tabs.some(({ id }) => id === chosen) ? chosen : tabs[0]?.id;
  const onKeyDown = (event: KeyboardEvent) => {
    const now = tabs.findIndex(({ id }) => id === shown);
    const last = tabs.length - 1;
    const next = {
      ArrowRight: now === last ? 0 : now + 1,
      ArrowLeft: now === 0 ? last : now - 1,
      Home: 0,
      End: last,
    }[event.key];
    const tab = next === undefined ? undefined : tabs[next];
    if (!tab) return;
    event.preventDefault();
    onChoose(tab.id);
    document.getElementById(`${prefix}-${tab.id}`)?.focus();
  };
  return (
    <div class="tabs">
      <div role="tablist" aria-label={label} onKeyDown={onKeyDown}>
        {tabs.map(({ id, name }) => (
          <button
            key={id}
            type="button"
            role="tab"
            id={`${prefix}-${id}`}
            aria-selected={id === shown}
            aria-controls={`${prefix}-${id}-panel`}
            tabIndex={id === shown ? 0 : -1}
            onClick={() => onChoose(id)}
          >
            {name}
          </button>
        ))}
      </div>
      {tabs.map(({ id, content }) => (
        <div
          key={id}
          role="tabpanel"
          id={`${prefix}-${id}-panel`}
          aria-labelledby={`${prefix}-${id}`}
          hidden={id !== shown}
        >
          {content}
        </div>
      ))}
    </div>
  );
}
