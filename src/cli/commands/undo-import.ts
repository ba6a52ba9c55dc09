/** `orders undo-import`: a long import takes several calls. */
import { LOOK_FIRST } from "../../worker/admin/can-change.ts";
import { AdminFailure, LostAnswer, NotAllowedByState, Unavailable } from "../admin-client.ts";
import { MAX_PAGES, notUnderstood, parseAnswer } from "./answers.ts";
import { type Undo, undoShape } from "./order-text.ts";
import { answerOf, type Session } from "./session.ts";

/** An answer, and its JSON text. */
type Part = { readonly text: string; readonly undo: Undo };

/** Interrupted, or after a failure, it can be repeated: it goes on with what is left. The last answer is about all of it. */
export async function undoImport(session: Session, id: string): Promise<Part> {
  let last: Undo | undefined;
  for (let progress: string | undefined, calls = 0; calls < MAX_PAGES; calls++) {
    const part = await undoPart(session, id, last);
    last = part.undo;
    if (last.isComplete) return part;
    // After each call an earlier chunk is the last one. The figures need not change: they count an order once that is in
    // several chunks. An older service names no chunk, but its figures count each chunk.
    const before = progress;
    progress = JSON.stringify([last.lastChunk, last.import.undone]);
    if (progress === before) break;
  }
  // No answer is lost: the last one says that the undo is not complete.
  throw withFigures(new AdminFailure(notUnderstood().message), last);
}

async function undoPart({ client, access }: Session, id: string, last: Undo | undefined): Promise<Part> {
  try {
    const text = await answerOf(access, client.orders.imports[":id"].undo.$post({ param: { id } }));
    return { text, undo: parseAnswer(undoShape, text) };
  } catch (thrown) {
    throw withFigures(thrown, last);
  }
}

/** After a failure the operator needs to know what was undone: what `last` says, or at least that. No look is needed before it is repeated. */
function withFigures(thrown: unknown, last: Undo | undefined): unknown {
  const undone = last?.import.undone;
  if (!(thrown instanceof AdminFailure) || !undone) return thrown;
  const figures = `${undone.deleted} orders were deleted and ${undone.restored} set back`;
  const facts = describeState(thrown, figures);
  return new AdminFailure(`${thrown.message.replace(` ${LOOK_FIRST}`, "")} ${facts}`, { cause: thrown });
}

function describeState(failure: AdminFailure, figures: string): string {
  if (failure instanceof LostAnswer || failure instanceof Unavailable) {
    return `At least ${figures}. The last call may have undone more, or all: repeat the undo to see.`;
  }
  // Whether it is complete is then not known, and a repetition is refused, too.
  if (failure instanceof NotAllowedByState) return `${figures} so far.`;
  return `The undo is not complete: ${figures} so far. Repeated, it goes on with the others.`;
}
