import type { Sql } from './sql.ts';

/**
 * Answers questions together: those asked before a turn of the event loop brings no other, and those that wait while as
 * many batches as allowed are running.
 *
 * @param answerAll Answers questions in their order, one answer each. If it fails, all its questions fail.
 * @param maxSize The most questions in one batch; more are split.
 * @param maxUnderWay The most batches at once. Under load, batches grow.
 */
function createBatch<Question, Answer>(
  answerAll: (questions: readonly Question[]) => Promise<readonly Answer[]>,
  maxSize: number,
  maxUnderWay: number,
): (question: Question) => Promise<Answer> {
  type Waiting = {
    question: Question;
    resolve: (answer: Answer) => void;
    reject: (error: unknown) => void;
  };
  const waiting: Waiting[] = [];
  let underWay = 0;
  let isDue = false;

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
    isDue = false;
    while (waiting.length > 0 && underWay < maxUnderWay) {
      underWay += 1;
      void answer(waiting.splice(0, maxSize)).then(() => {
        underWay -= 1;
        schedule();
      });
    }
  }

  // After this turn's input has been read. If that brought further questions, the next turn's may too: under load, a
  // statement costs ten times what a question adds to it.
  function look(before: number): void {
    if (waiting.length === before || waiting.length >= maxSize) flush();
    else setImmediate(look, waiting.length);
  }

  function schedule(): void {
    if (isDue || waiting.length === 0 || underWay === maxUnderWay) return;
    isDue = true;
    setImmediate(look, waiting.length);
  }

  return (question) =>
    new Promise((resolve, reject) => {
      waiting.push({ question, resolve, reject });
      schedule();
    });
}

// Limits how long one statement holds a connection.
const maxBatchSize = 50;
// With two, batches grow under load while one is always running: 1,832 exchanges/s against 1,621 without a limit, at 16
// connections, medians of five alternating rounds.
const maxBatchesUnderWay = 2;

/**
 * Makes a question to the database that concurrent requests ask in one statement.
 *
 * @param maxSize The most questions in one statement: 1 for those that take long, which no other has to wait for.
 */
export function createSharedStatement<Question, Answer>(
  answerAll: (sql: Sql, questions: readonly Question[]) => Promise<readonly Answer[]>,
  maxSize = maxBatchSize,
): (sql: Sql, question: Question) => Promise<Answer> {
  const batches = new WeakMap<Sql, (question: Question) => Promise<Answer>>();
  return (sql, question) => {
    let ask = batches.get(sql);
    if (!ask) {
      ask = createBatch((all) => answerAll(sql, all), maxSize, maxBatchesUnderWay);
      batches.set(sql, ask);
    }
    return ask(question);
  };
}
