import type { SigningAlgorithm } from '../config.ts';
import { NotAllowedError, NotFoundError } from '../errors.ts';
import type { SigningKey as SigningKeyRow } from '../generated/prisma/client.ts';
import { builder } from '../graphql/builder.ts';
import { connectionOf, readPage } from '../graphql/lists/page.ts';
import { addMutation, type PayloadFields } from '../graphql/mutations/mutation.ts';
import { recordMutations } from '../graphql/mutations/record-mutations.ts';
import { SigningAlgorithmEnum } from '../graphql/signing-algorithm.ts';
import { deleteSigningKey, rotateSigningKey } from './operations.ts';

/** A key that signs or has signed tokens. No field shows its private half. */
export const SigningKey = builder.prismaNode('SigningKey', {
  nullable: true,
  id: {
    field: 'id',
    description: "The key's id, and the `kid` of its tokens: a TypeID with the prefix `key`.",
  },
  description: 'A key that signs or has signed tokens.',
  authScopes: { scope: 'all' },
  // Without this, all columns would be read; the private half need not leave the database.
  select: { id: true },
  fields: (t) => ({
    algorithm: t.field({
      type: SigningAlgorithmEnum,
      description: 'Its algorithm.',
      select: { algorithm: true },
      resolve: ({ algorithm }) => algorithm as SigningAlgorithm,
    }),
    isCurrent: t.boolean({
      description: 'Whether it signs new access tokens. A key for id tokens alone never does.',
      select: { retiredAt: true, forIdTokens: true },
      resolve: ({ retiredAt, forIdTokens }) => retiredAt === null && !forIdTokens,
    }),
    publicJwk: t.expose('publicJwk', {
      type: 'JSONObject',
      description: 'Its public half, as the key set has it (RFC 7517).',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    retiredAt: t.expose('retiredAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When another key replaced it; null while it signs.',
    }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it leaves the key set: its last token has then expired.',
    }),
  }),
});

const SigningKeyConnection = connectionOf('SigningKey', SigningKey);

const publicColumns = {
  id: true,
  algorithm: true,
  publicJwk: true,
  forIdTokens: true,
  createdAt: true,
  retiredAt: true,
  expiresAt: true,
} as const;

builder.queryFields((t) => ({
  signingKeys: t.connection(
    {
      type: SigningKey,
      description:
        'The keys that sign or have signed tokens, newest first. Requires the scope `all`.',
      authScopes: { scope: 'all' },
      resolve: (_root, args, context, info) => {
        const { signingKey } = context.database.prisma;
        return readPage({
          args,
          context,
          info,
          model: {
            findMany: (query: object) => signingKey.findMany({ ...query, select: publicColumns }),
            count: (query: object) => signingKey.count(query),
          },
          where: { OR: [{ expiresAt: null }, { expiresAt: { gt: context.clock.now() } }] },
          order: { field: 'id', nullable: false, direction: 'desc' },
        });
      },
    },
    SigningKeyConnection,
  ),
}));

addMutation('rotateSigningKey', {
  description:
    'Creates a signing key that signs from now on. The old key stays in the key set until its last token has expired. Requires the scope `all`. Raises no event.',
  scope: 'all',
  input: (t) => ({
    algorithm: t.field({
      type: SigningAlgorithmEnum,
      description: 'The algorithm: SIGNING_ALG by default.',
    }),
  }),
  payload: (
    t: PayloadFields<{ signingKey: SigningKeyRow; retiredSigningKey: SigningKeyRow | null }>,
  ) => ({
    signingKey: t.field({
      type: SigningKey,
      description: 'The new key.',
      resolve: ({ signingKey }) => signingKey,
    }),
    retiredSigningKey: t.field({
      type: SigningKey,
      nullable: true,
      description: 'The retired key.',
      resolve: ({ retiredSigningKey }) => retiredSigningKey,
    }),
  }),
  errors: [],
  resolve: (input, context) => rotateSigningKey(context, input),
});

recordMutations('signingKey', SigningKey, {
  scope: 'all',
  noun: 'key',
  description: 'The key in its last state.',
}).addDeletion('deleteSigningKey', {
  description:
    'Deletes a retired signing key at once: every token it signed is refused from now on. The current key cannot be deleted. Requires the scope `all`. Raises no event.',
  errors: [NotFoundError, NotAllowedError],
  model: ({ signingKey }) => signingKey,
  operation: deleteSigningKey,
});
