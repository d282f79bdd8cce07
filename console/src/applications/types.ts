import type { ApplicationQuery, ApplicationType } from '../generated/graphql.ts';

/** An application as its page reads it. */
export type ShownApplication = NonNullable<ApplicationQuery['application']>;

/** The types of applications; first those that people sign in to. */
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
