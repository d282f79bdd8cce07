import { expect, test } from 'vitest';
import { createSharedStatement } from '../../src/db/batch.ts';
import type { Sql } from '../../src/db/sql.ts';

/** A question that answers itself, and the questions of each statement. */
function shared(maxSize?: number) {
  const asked: number[][] = [];
  const sql = {} as Sql;
  const ask = createSharedStatement<number, number>(async (_sql, questions) => {
    asked.push([...questions]);
    return questions;
  }, maxSize);
  return { asked, ask: (question: number) => ask(sql, question) };
}

/** Calls back in each of the next turns of the event loop, ahead of what is due by then. */
function inTurns(count: number, work: (turn: number) => void, turn = 1): void {
  setImmediate(() => {
    if (turn < count) inTurns(count, work, turn + 1);
    work(turn);
  });
}

test('what one turn after another asks is answered together, until a turn asks nothing', async () => {
  const { asked, ask } = shared();
  const answers: Promise<number>[] = [];
  inTurns(5, (turn) => void answers.push(ask(turn)));
  answers.push(ask(0));
  expect(await answers[0]).toBe(0);
  expect(await Promise.all(answers)).toEqual([0, 1, 2, 3, 4, 5]);
  expect(asked).toEqual([[0, 1, 2, 3, 4, 5]]);
});

test('one question is answered in the turn in which it comes', async () => {
  const { asked, ask } = shared();
  const answer = ask(1);
  await new Promise((resolve) => setImmediate(resolve));
  expect(asked).toEqual([[1]]);
  expect(await answer).toBe(1);
});

test('a statement has 50 questions at most, and does not wait for more', async () => {
  const { asked, ask } = shared();
  const answers: Promise<number>[] = [];
  inTurns(100, (turn) => void answers.push(ask(turn)));
  answers.push(ask(0));
  await answers[0];
  expect(asked[0]).toHaveLength(50);
  expect(answers.length).toBeLessThan(60);
});

test('questions that take long have a statement each', async () => {
  const { asked, ask } = shared(1);
  expect(await Promise.all([1, 2, 3].map(ask))).toEqual([1, 2, 3]);
  expect(asked).toEqual([[1], [2], [3]]);
});
