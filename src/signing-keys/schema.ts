import type { SigningAlgorithm } from '../config.ts';
import { NotAllowedError, NotFoundError } from '../errors.ts';
import type { SigningKey as SigningKeyRow } from '../generated/prisma/client.ts';
import { builder } from '../graphql/builder.ts';
import { connectionOf, readPage } from '../graphql/lists/page.ts';
import { addMutation, type PayloadFields } from '../graphql/mutations/mutation.ts';
import { recordMutations } from '../graphql/mutations/record-mutations.ts';
import { SigningAlgorithmEnum } from '../graphql/signing-algorithm.ts';
import { type SigningKeyStatus, signingStartOf, statusAt } from '../keys/signing-keys.ts';
import { deleteSigningKey, rotateSigningKey } from './operations.ts';

const term = { signsFrom: true, createdAt: true, retiredAt: true, isBeside: true } as const;

const SigningKeyStatusEnum = builder.enumType('SigningKeyStatus', {
  description: 'Where a signing key stands.',
  values: {
    PENDING: {
      description:
        'It is in the key set, so that verifiers know it before it signs. The first key for id tokens in an algorithm signs those already.',
    },
    ACTIVE: { description: 'It signs.' },
    RETIRED: { description: 'It signs no more. Its tokens are valid until they expire.' },
  } as const satisfies Record<SigningKeyStatus, object>,
});

/** A key that signs, has signed or will sign tokens. No field shows its private half. */
const SigningKey = builder.prismaNode('SigningKey', {
  nullable: true,
  id: {
    field: 'id',
    description: "The key's id, and the `kid` of its tokens: a TypeID with the prefix `key`.",
  },
  description: 'A key that signs, has signed or will sign tokens.',
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
      description:
        'Whether it signs new tokens. A key that only signs where an application or a resource asks for its algorithm is not.',
      select: term,
      resolve: (key, _args, { clock }) => statusAt(key, clock.now()) === 'ACTIVE' && !key.isBeside,
    }),
    status: t.field({
      type: SigningKeyStatusEnum,
      description: 'Where it stands.',
      select: term,
      resolve: (key, _args, { clock }) => statusAt(key, clock.now()),
    }),
    publicJwk: t.expose('publicJwk', {
      type: 'JSONObject',
      description: 'Its public half, as the key set has it (RFC 7517).',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    activeFrom: t.field({
      type: 'DateTime',
      description:
        'From when it signs, on every node: `SIGNING_KEY_LEAD_SECONDS` after its creation, unless it was made to sign immediately.',
      select: { signsFrom: true, createdAt: true },
      resolve: signingStartOf,
    }),
    retiredAt: t.expose('retiredAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When another key takes over, or did; null as long as none is to.',
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
  isBeside: true,
  createdAt: true,
  signsFrom: true,
  retiredAt: true,
  expiresAt: true,
} as const;

builder.queryFields((t) => ({
  signingKeys: t.connection(
    {
      type: SigningKey,
      description:
        'The keys that sign, have signed or will sign tokens, newest first. Requires the scope `all`.',
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
    'Creates a signing key. It is in the key set at once, and signs once verifiers have had time to read it there: after `SIGNING_KEY_LEAD_SECONDS`, or `immediately`. The old key signs until then, and stays in the key set until its last token has expired. Requires the scope `all`. Raises `SigningKey.Rotated` for each new key: others sign where applications or resources ask for another algorithm.',
  scope: 'all',
  input: (t) => ({
    algorithm: t.field({
      type: SigningAlgorithmEnum,
      description: 'The algorithm: SIGNING_ALG by default.',
    }),
    immediately: t.boolean({
      description:
        'Whether the new key signs at once, because the old one leaked. Verifiers that hold the key set refuse its tokens until they read the set again. Off by default.',
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
      description: 'The key that it replaces.',
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
    'Deletes a signing key at once: every token it signed is refused from now on. If it still signs, the next one signs from now on; if it waits, the one that it was to replace goes on. The newest key cannot be deleted unless it waits: rotate first. Requires the scope `all`. Raises `SigningKey.Deleted`.',
  errors: [NotFoundError, NotAllowedError],
  model: ({ signingKey }) => signingKey,
  operation: deleteSigningKey,
});
