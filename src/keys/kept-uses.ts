/**
 * What has a key of its own in the database, encrypted: digests and ids that outlive a secret, and that cannot be made
 * anew under another.
 */
export const keptUses = [
  'backup-code',
  'client-address',
  'configuration-digest',
  'cursor',
  'cursor-tag',
  'device-cookie',
  'identifier',
  'kept-results',
  'membership-ids',
  'recipient',
  'sender',
  'sending-address',
  'sending-service',
  'user-code',
  'verification-code',
] as const;

/** A use of a kept key. */
export type KeptUse = (typeof keptUses)[number];
