/** Problems of `npm start` that the person at the terminal can correct: shown as one sentence, without a stack. */
export class StartError extends Error {}

export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
