import { createStore } from './store.ts';

/** A notice of success or failure. */
interface Notice {
  readonly type: 'done' | 'failed';
  readonly title: string;
  readonly description: string | undefined;
  /** After how many milliseconds it goes. */
  readonly timeout: number;
}

/** What is to be shown, and is not yet: the list of the toasts comes after the page. */
export const waitingToasts = createStore<readonly Notice[]>([]);

const show = (notice: Notice): void => waitingToasts.set([...waitingToasts.get(), notice]);

/** Shows a notice of success or failure in a corner of the page. */
export const toast = {
  done: (title: string, description?: string): void =>
    show({ title, description, type: 'done', timeout: 5_000 }),
  // Without the priority of the library, which would write the words twice and hide the ones that can be reached.
  failed: (title: string, description?: string): void =>
    show({ title, description, type: 'failed', timeout: 12_000 }),
};
