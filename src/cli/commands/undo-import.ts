/** `orders undo-import`: a long import takes several calls. */
import type { UndoResult } from "../../worker/admin/order-import-undo-service.ts";
import { bodyOf, type Session } from "./session.ts";

/** Interrupted, or after a failure, it can be repeated: it goes on with what is left. The last answer is about all of it. */
export async function undoImport({ client, access }: Session, id: string): Promise<UndoResult> {
  for (;;) {
    const call = client.orders.imports[":id"].undo.$post({ param: { id } });
    const result = await bodyOf<UndoResult>(access, call);
    if (result.isComplete) return result;
  }
}
