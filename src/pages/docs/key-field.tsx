/** The field for the API key, which shows what is typed only on request. */
import type { RefObject } from "preact";
import { useId, useState } from "preact/hooks";

type Props = {
  readonly value: string;
  readonly onValue: (text: string) => void;
  readonly problem: string | undefined;
  readonly input: RefObject<HTMLInputElement | null>;
};

export function KeyField({ value, onValue, problem, input }: Props) {
  const [isShown, setIsShown] = useState(false);
  const id = useId();
  return (
    <div class="field">
      <label for={id}>API key</label>
      <div class="with-button">
        <input
          ref={input}
          id={id}
          {...(isShown ? ({ type: "text" } as const) : ({ type: "password" } as const))}
          placeholder="sok_…"
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          aria-invalid={problem !== undefined}
          aria-describedby={`${id}-problem`}
          value={value}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
        <button
          type="button"
          class="button"
          aria-pressed={isShown}
          aria-label="Show the API key"
          onClick={() => setIsShown(!isShown)}
        >
          {isShown ? "Hide" : "Show"}
        </button>
      </div>
      <p id={`${id}-problem`} class="problem" role="alert">
        {problem}
      </p>
    </div>
  );
}
