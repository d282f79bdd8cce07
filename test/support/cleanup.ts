import { onTestFinished, TestRunner } from 'vitest';

const open = new Set<() => Promise<void>>();

/**
 * Closes something at the end of the running test, or at the end of the file if no test is running. `afterAll` alone
 * does nothing inside a running test or hook.
 */
export function closeAtEnd(close: () => Promise<void>): void {
  open.add(close);
  if (!TestRunner.getCurrentTest()) return;
  onTestFinished(async () => {
    open.delete(close);
    await close();
  });
}

/** Closes everything that a test file left open. */
export async function closeAll(): Promise<void> {
  for (const close of [...open].reverse()) {
    open.delete(close);
    await close();
  }
}
