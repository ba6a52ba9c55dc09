/** `orders undo-import`: a long import takes several calls. */
import type { UndoResult } from "../../worker/admin/order-import-undo-service.ts";
import { bodyOf, type Session } from "./session.ts";

/** Interrupted, or after a failure, it can be repeated: it goes on with what is left. */
export async function undoImport({ client, access }: Session, id: string): Promise<UndoResult> {
  const leftAlone: string[] = [];
  for (;;) {
    const call = client.orders.imports[":id"].undo.$post({ param: { id } });
    const result = await bodyOf<UndoResult>(access, call);
    leftAlone.push(...result.leftAlone);
    if (result.isComplete) return { ...result, leftAlone };
  }
}
