import { randomBytes } from 'node:crypto';
import type { ApplicationType } from '../generated/prisma/client.ts';

/** Whether an application of this type can keep a secret: a confidential client (RFC 6749 §2.1). */
export const isConfidential = (type: ApplicationType): boolean =>
  type === 'TRADITIONAL' || type === 'MACHINE_TO_MACHINE';

/** A new application secret: 256 random bits in base64url, shown once. */
export const generateSecret = (): string => randomBytes(32).toString('base64url');
