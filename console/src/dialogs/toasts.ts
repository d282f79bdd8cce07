import { Toast } from '@base-ui/react/toast';

/** What the toasts on the page are kept in; anything may add one. */
export const toastManager = Toast.createToastManager();

/** Tells of something that is over, in a corner of the page. */
export const toast = {
  done: (title: string, description?: string): void => {
    toastManager.add({ title, description, type: 'done', timeout: 5_000 });
  },
  failed: (title: string, description?: string): void => {
    toastManager.add({ title, description, type: 'failed', timeout: 12_000, priority: 'high' });
  },
};
