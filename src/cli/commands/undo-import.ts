/** `orders undo-import`: a long import takes several calls. */
import { MAX_PAGES, notUnderstood } from "./answers.ts";
import { type Undo, undoShape } from "./order-text.ts";
import { bodyOf, type Session } from "./session.ts";

/** Interrupted, or after a failure, it can be repeated: it goes on with what is left. The last answer is about all of it. */
export async function undoImport({ client, access }: Session, id: string): Promise<Undo> {
  for (let figures: string | undefined, calls = 0; calls < MAX_PAGES; calls++) {
    const call = client.orders.imports[":id"].undo.$post({ param: { id } });
    const result = await bodyOf(access, call, undoShape);
    if (result.isComplete) return result;
    // A call that leaves something has undone something, which its figures count.
    const before = figures;
    figures = JSON.stringify(result.import.undone);
    if (figures === before) break;
  }
  throw notUnderstood();
}
