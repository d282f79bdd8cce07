import { defineMessages } from '../language/messages.ts';

export const apiMessages = defineMessages({
  en: {
    forbidden: 'You do not have permission to do this',
    failed: 'Something went wrong',
    unreachable: 'The service did not answer. Your change may not have been saved.',
  },
  de: {
    forbidden: 'Ihre Rechte reichen dafür nicht aus',
    failed: 'Das ist nicht gelungen',
    unreachable: 'Der Dienst antwortet nicht. Möglicherweise wurde nichts geändert.',
  },
});
