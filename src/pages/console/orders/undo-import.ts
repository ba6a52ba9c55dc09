/** Undoes an import of orders, in as many calls as it takes. */
import { counted } from "../../shared/format.ts";
import { type AdminClient, jsonOf } from "../admin-client.ts";
import type { UndoAnswer } from "../api-types.ts";
import { Problem, unreachable, withConflictAdvice } from "../problem.ts";

const CONFLICT_ADVICE =
  "An earlier call or try may have undone parts of the import. Reload to see the present state, then decide again.";

/**
 * Each call undoes a part that fits into one request. It stops after one of them when the dialog was left. Repeated after a
 * failure, it goes on with the rest. The last answer is about all of it.
 */
export async function undoImport(client: AdminClient, id: string, left: AbortSignal): Promise<UndoAnswer> {
  for (let progress: string | undefined; ; ) {
    const call = client.orders.imports[":id"].undo.$post({ param: { id } });
    const answer = await jsonOf(call, "import", "isComplete", "leftAlone").catch((thrown: unknown) => {
      throw withConflictAdvice(thrown, CONFLICT_ADVICE);
    });
    if (answer.isComplete) return answer;
    if (left.aborted)
      throw new Problem("failed", "Only a part of the orders is undone.", "Repeat it to undo the rest.");
    // After each call an earlier chunk is the last one. An older service names no chunk, but its figures count each chunk.
    const before = progress;
    progress = JSON.stringify([answer.lastChunk, answer.import.undone]);
    if (progress === before) throw unreachable();
  }
}

export function undoneText({ import: { undone } }: UndoAnswer): string {
  const leftAlone = undone?.leftAlone ?? 0;
  if (leftAlone === 0) return "The import is undone.";
  return `The import is undone, but ${counted(leftAlone, "order")} ${leftAlone === 1 ? "is" : "are"} left alone.`;
}
