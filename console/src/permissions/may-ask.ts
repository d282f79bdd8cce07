import { useCan } from '../kit/session/session.ts';

/** Whether the person may ask who can do what. */
export function useMayAsk(): boolean {
  const areas = [
    useCan('users:read'),
    useCan('applications:read'),
    useCan('roles:read'),
    useCan('resources:read'),
    useCan('organizations:read'),
  ];
  return areas.every(Boolean);
}
