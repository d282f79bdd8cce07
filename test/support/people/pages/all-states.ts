import { type PageState, pageStates } from '../page-states.ts';
import { deviceStates } from './device-states.ts';
import { providerStates } from './provider-states.ts';
import { requestStates } from './request-states.ts';

/** Every state of the pages of a sign-in and of a sign-out. */
export const allStates: readonly PageState[] = [
  ...pageStates,
  ...providerStates,
  ...requestStates,
  ...deviceStates,
];
