import type { FactorType } from '../../../generated/prisma/client.ts';
import type { AccountPage } from '../../site/visit.ts';
import { appPage } from './app.ts';
import { codesPage } from './codes.ts';
import { passkeyPage } from './passkey.ts';

/** The page that adds each kind of factor. */
export const addFactorPages: Readonly<Record<FactorType, AccountPage>> = {
  TOTP: appPage,
  PASSKEY: passkeyPage,
  BACKUP_CODES: codesPage,
};
