/**
 * Work on calls in rounds, one after the other. Calls that come during a round go together into the next one.
 * In an object, a request may await what another request settles.
 */
type Waiting<Call, Answer> = PromiseWithResolvers<readonly Answer[]> & { readonly calls: readonly Call[] };

export class Rounds<Call, Answer> {
  readonly #answer: (calls: readonly Call[]) => Promise<readonly Answer[]>;
  readonly #waitUntil: (run: Promise<void>) => void;
  #waiting: Waiting<Call, Answer>[] = [];
  #isRunning = false;

  /**
   * `answer` returns an answer for each call, in their order. If it rejects, each of its calls is rejected.
   * `waitUntil` holds the rounds after the caller who began them has hung up.
   */
  constructor(
    answer: (calls: readonly Call[]) => Promise<readonly Answer[]>,
    waitUntil: (run: Promise<void>) => void,
  ) {
    this.#answer = answer;
    this.#waitUntil = waitUntil;
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  join(calls: readonly Call[]): Promise<readonly Answer[]> {
    const waiting = { ...Promise.withResolvers<readonly Answer[]>(), calls };
    this.#waiting.push(waiting);
    if (!this.#isRunning) this.#waitUntil(this.#run());
    return waiting.promise;
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#waiting.length > 0) {
      const together = this.#waiting;
      this.#waiting = [];
      try {
        const answers = await this.#answer(together.flatMap(({ calls }) => calls));
        let place = 0;
        for (const { calls, resolve } of together) {
          resolve(answers.slice(place, place + calls.length));
          place += calls.length;
        }
      } catch (thrown) {
        for (const { reject } of together) reject(thrown);
      }
    }
    this.#isRunning = false;
  }
}
