import type { SigningAlgorithm } from '../config.ts';
import { NotAllowedError, NotFoundError } from '../errors.ts';
import type { SigningKey as SigningKeyRow } from '../generated/prisma/client.ts';
import { builder } from '../graphql/builder.ts';
import { connectionOf, readPage } from '../graphql/list.ts';
import { addMutation, asItLastWas, type PayloadFields } from '../graphql/mutation.ts';
import { deleteSigningKey, rotateSigningKey } from './operations.ts';

const SigningAlgorithmEnum = builder.enumType('SigningAlgorithm', {
  description: 'How tokens are signed (RFC 7518 §3.1, RFC 8037).',
  values: {
    ES256: { description: 'ECDSA over P-256 with SHA-256.' },
    ES384: { description: 'ECDSA over P-384 with SHA-384.' },
    EdDSA: { description: 'Ed25519.' },
    RS256: { description: 'RSASSA-PKCS1-v1_5 with SHA-256.' },
    PS256: { description: 'RSASSA-PSS with SHA-256.' },
  } as const satisfies Record<SigningAlgorithm, object>,
});

/** A key that signs tokens, or did. Its private half has no field, here or anywhere. */
export const SigningKey = builder.prismaNode('SigningKey', {
  nullable: true,
  id: {
    field: 'id',
    description: "The key's id, the `kid` of what it signs: a TypeID with the prefix `key`.",
  },
  description: 'A key that signs tokens, or did.',
  authScopes: { scope: 'all' },
  // Not all columns, as it would be by default: the private half need not leave the database.
  select: { id: true },
  fields: (t) => ({
    algorithm: t.field({
      type: SigningAlgorithmEnum,
      description: 'How it signs.',
      select: { algorithm: true },
      resolve: ({ algorithm }) => algorithm as SigningAlgorithm,
    }),
    isCurrent: t.boolean({
      description: 'Whether it signs new tokens.',
      select: { retiredAt: true },
      resolve: ({ retiredAt }) => retiredAt === null,
    }),
    publicJwk: t.expose('publicJwk', {
      type: 'JSONObject',
      description: 'Its public half (RFC 7517), as the key set has it.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    retiredAt: t.expose('retiredAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When another key took over; null where it signs.',
    }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the last token it signed has expired and it leaves the key set.',
    }),
  }),
});

const SigningKeyConnection = connectionOf('SigningKey', SigningKey);

const publicColumns = {
  id: true,
  algorithm: true,
  publicJwk: true,
  createdAt: true,
  retiredAt: true,
  expiresAt: true,
} as const;

builder.queryFields((t) => ({
  signingKeys: t.connection(
    {
      type: SigningKey,
      description: 'The keys that sign tokens or did, newest first. Takes the scope `all`.',
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
    'Makes a signing key that signs from now on. The old one stays in the key set until the last token it signed has expired. Takes the scope `all`. Raises no event.',
  scope: 'all',
  input: (t) => ({
    algorithm: t.field({
      type: SigningAlgorithmEnum,
      description: 'How it signs: as SIGNING_ALG says by default.',
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
      description: 'The key that signed until now.',
      resolve: ({ retiredSigningKey }) => retiredSigningKey,
    }),
  }),
  errors: [],
  resolve: (input, context) => rotateSigningKey(context, input),
});

addMutation('deleteSigningKey', {
  description:
    'Deletes a retired signing key at once: every token it signed is refused from now on. The key that signs cannot be deleted. Takes the scope `all`. Raises no event.',
  scope: 'all',
  input: (t) => ({ id: t.id({ required: true, description: "The key's id." }) }),
  payload: (t: PayloadFields<{ signingKey: SigningKeyRow }>) => ({
    signingKey: t.field({
      type: SigningKey,
      description: 'The key as it last was.',
      resolve: ({ signingKey }) => signingKey,
    }),
  }),
  errors: [NotFoundError, NotAllowedError],
  resolve: async (input, context, info) => {
    const keys = context.database.prisma.signingKey;
    return {
      signingKey: await asItLastWas({
        context,
        info,
        field: 'signingKey',
        read: (query) => keys.findUnique({ ...query, where: { id: input.id } }),
        remove: () => deleteSigningKey(context, input),
      }),
    };
  },
});
