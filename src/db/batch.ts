/**
 * Answers the questions that are asked in one turn of the event loop together.
 *
 * @param answerAll Answers questions in their order, one answer each. Where it fails, each of them fails.
 * @param maxSize The largest number of questions put at once; more are split.
 */
export function createBatch<Question, Answer>(
  answerAll: (questions: readonly Question[]) => Promise<readonly Answer[]>,
  maxSize: number,
): (question: Question) => Promise<Answer> {
  type Waiting = {
    question: Question;
    resolve: (answer: Answer) => void;
    reject: (error: unknown) => void;
  };
  let waiting: Waiting[] = [];

  async function answer(batch: readonly Waiting[]): Promise<void> {
    try {
      const answers = await answerAll(batch.map(({ question }) => question));
      if (answers.length !== batch.length) throw new Error('A batch has one answer a question.');
      for (const [i, { resolve }] of batch.entries()) resolve(answers[i] as Answer);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  function flush(): void {
    const all = waiting;
    waiting = [];
    for (let i = 0; i < all.length; i += maxSize) void answer(all.slice(i, i + maxSize));
  }

  return (question) =>
    new Promise((resolve, reject) => {
      // After the turn's input has been read, so after every request that came with it.
      if (waiting.length === 0) setImmediate(flush);
      waiting.push({ question, resolve, reject });
    });
}
