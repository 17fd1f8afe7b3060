/**
 * Questions that meet within a turn of the event loop travel together, and those that come while an answer
 * is awaited travel together next. A single question does not wait.
 */
export interface Batcher<Question, Answer> {
  ask(question: Question): Promise<Answer>;
  /** Resolves when nothing is asked or under way. */
  rested(): Promise<void>;
}

/** @param run one answer for each question, in order; what it throws, every one of them is told */
export function batcher<Question, Answer>(
  most: number,
  run: (questions: readonly Question[]) => Promise<readonly Answer[]>,
): Batcher<Question, Answer> {
  interface Waiting {
    readonly question: Question;
    readonly resolve: (answer: Answer) => void;
    readonly reject: (error: unknown) => void;
  }
  let waiting: Waiting[] = [];
  let underWay: Promise<void> | undefined;

  async function work(): Promise<void> {
    // One turn, so that those who ask in this one are together.
    await new Promise<void>((resolve) => setImmediate(resolve));
    while (waiting.length > 0) {
      const batch = waiting.slice(0, most);
      waiting = waiting.slice(most);
      try {
        const answers = await run(batch.map(({ question }) => question));
        batch.forEach(({ resolve, reject }, index) => {
          const answer = answers[index];
          if (answer === undefined) reject(new Error("a batch gave no answer for a question"));
          else resolve(answer);
        });
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
  }

  return {
    ask(question) {
      return new Promise((resolve, reject) => {
        waiting.push({ question, resolve, reject });
        underWay ??= work().finally(() => {
          underWay = undefined;
        });
      });
    },
    async rested() {
      while (underWay) await underWay;
    },
  };
}
