import type { ApplicationType } from '../generated/graphql.ts';

/** The types of applications, those that people sign in to first. */
export const applicationTypes = [
  'TRADITIONAL',
  'SPA',
  'NATIVE',
  'MACHINE_TO_MACHINE',
] as const satisfies readonly ApplicationType[];

/** Whether applications of a type keep a secret: only they may exchange tokens. */
export const keepsSecret = (type: ApplicationType): boolean =>
  type === 'TRADITIONAL' || type === 'MACHINE_TO_MACHINE';

/** Whether people sign in to applications of a type. */
export const signsIn = (type: ApplicationType): boolean => type !== 'MACHINE_TO_MACHINE';
