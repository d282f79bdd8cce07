import { Toast } from '@base-ui/react/toast';

/** The manager of the toasts; any code may add one. */
export const toastManager = Toast.createToastManager();

/** Shows a notice of success or failure in a corner of the page. */
export const toast = {
  done: (title: string, description?: string): void => {
    toastManager.add({ title, description, type: 'done', timeout: 5_000 });
  },
  // Without the priority of the library, which would write the words twice and hide the ones that can be reached.
  failed: (title: string, description?: string): void => {
    toastManager.add({ title, description, type: 'failed', timeout: 12_000 });
  },
};
