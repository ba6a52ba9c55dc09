/** `orders undo-import`: a long import takes several calls. */
import { MAX_PAGES, notUnderstood } from "./answers.ts";
import { type Undo, undoShape } from "./order-text.ts";
import { bodyOf, type Session } from "./session.ts";

/** Interrupted, or after a failure, it can be repeated: it goes on with what is left. The last answer is about all of it. */
export async function undoImport({ client, access }: Session, id: string): Promise<Undo> {
  for (let progress: string | undefined, calls = 0; calls < MAX_PAGES; calls++) {
    const call = client.orders.imports[":id"].undo.$post({ param: { id } });
    const result = await bodyOf(access, call, undoShape);
    if (result.isComplete) return result;
    // After each call an earlier chunk is the last one. The figures need not change: they count an order once that is in
    // several chunks. An older service names no chunk, but its figures count each chunk.
    const before = progress;
    progress = JSON.stringify([result.lastChunk, result.import.undone]);
    if (progress === before) break;
  }
  throw notUnderstood();
}
