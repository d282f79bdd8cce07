import { afterAll } from 'vitest';
import { closeAll } from './cleanup.ts';
import { expectNone, noteHandles } from './worker/handles.ts';
import { noteShared } from './worker/shared.ts';

// Runs before each file: its worker has had others.
const giveBack = noteShared();
const leftOpen = noteHandles();

afterAll(async () => {
  try {
    await closeAll();
  } finally {
    giveBack();
  }
  await expectNone(leftOpen);
});
