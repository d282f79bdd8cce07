import { defineMessages } from '../language/messages.ts';

export const apiMessages = defineMessages({
  en: {
    forbidden: 'Your rights do not cover this',
    failed: 'That did not succeed',
    unreachable: 'The service does not answer. Nothing may have been changed.',
  },
  de: {
    forbidden: 'Ihre Rechte reichen dafür nicht aus',
    failed: 'Das ist nicht gelungen',
    unreachable: 'Der Dienst antwortet nicht. Möglicherweise wurde nichts geändert.',
  },
});
