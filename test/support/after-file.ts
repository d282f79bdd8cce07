import { afterAll } from 'vitest';
import { closeAll } from './cleanup.ts';
import { noteShared } from './worker/shared.ts';

// Runs before each file: its worker has had others.
const giveBack = noteShared();

afterAll(async () => {
  try {
    await closeAll();
  } finally {
    giveBack();
  }
});
