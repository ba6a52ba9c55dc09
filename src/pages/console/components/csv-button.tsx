/** A button that loads a CSV file from the admin API and saves it. */
import { saveCsv } from "../download.ts";
import { useSubmit } from "../use-submit.ts";
import { ProblemNotice } from "./notices.tsx";

type Props = {
  readonly text: string;
  readonly file: string;
  readonly load: () => Promise<string>;
};

export function CsvButton({ text, file, load }: Props) {
  const { submit, problem, isRunning } = useSubmit(async () => saveCsv(file, await load()));
  return (
    <>
      <button
        type="button"
        class="button small"
        // `disabled` would take the focus from it.
        aria-disabled={isRunning}
        onClick={(event) => !isRunning && submit(event)}
      >
        {text}
      </button>
      {problem && <ProblemNotice problem={problem} />}
    </>
  );
}
