import { createHash, createHmac } from 'node:crypto';
import type { GraphQLSchema } from 'graphql';
import { adminRoleName, isBuiltInApplication } from '../applications/built-in.ts';
import { isReservedIndicator } from '../auth/scopes.ts';
import { type EventName, enumValueOf } from '../events/catalogue/catalogue.ts';
import type { PrismaClient } from '../generated/prisma/client.ts';
import { clientOf } from '../identity-providers/client.ts';
import { openSenderSecret } from '../messages/sealed.ts';
import type { Context } from '../services.ts';
import {
  readSettingsVersion,
  readSignInExperience,
  type SignInExperience,
} from '../sign-in-experience/settings.ts';
import { openHeaders } from '../webhooks/endpoint/sealed.ts';
import { fieldsOf, type RecordKindName, recordKind, type SenderChannel } from './kinds.ts';

/** The values of a record, under the names of a document's fields. */
export type Values = Readonly<Record<string, unknown>>;

/** A record as it is. */
export interface StateRecord {
  readonly kind: RecordKindName;
  readonly id: string;
  /** What people call it: an indicator, a name, or for a part what its owner is called, and then the part. */
  readonly name: string;
  /** The id of the record that it is a part of. */
  readonly ownerId?: string;
  readonly version: number;
  /** Whether it is Signet's own: it is neither exported nor pruned. */
  readonly isOwn: boolean;
  /** Its values, without secrets. Links are the names of the linked records, sorted. */
  readonly values: Values;
  /** Its secrets in clear, under their field; of a webhook under the names of its headers. They never leave. */
  readonly secrets: Readonly<Record<string, string>>;
}

/** The sender of a channel as it is. */
export interface StateSender {
  readonly kind: 'smtp' | 'http';
  readonly values: Values;
  /** In clear; null without one. It never leaves. */
  readonly secret: string | null;
  readonly updatedAt: string;
}

/** The configuration as it is. */
export interface State {
  readonly records: readonly StateRecord[];
  readonly senders: Readonly<Partial<Record<SenderChannel, StateSender>>>;
  readonly signInExperience: SignInExperience;
  readonly signInVersion: number;
  /** Changes with every change of the configuration, secrets included. */
  readonly digest: string;
}

/** What a part of a record is called. Of a scope it can be taken apart: neither indicators nor scopes have spaces. */
export const nameOfPart = (owner: string, part: string): string => `${owner} ${part}`;

type Services = Pick<Context, 'database' | 'cipher'>;

/** Reads the configuration. Within a transaction it is as that has changed it so far. */
export async function readState(context: Services, schema: GraphQLSchema): Promise<State> {
  const { prisma } = context.database;
  const records: StateRecord[] = [];
  // One after the other: a transaction has one connection.
  const toRecord = recordMaker(schema);
  for (const read of readers) records.push(...(await read(prisma, toRecord, context)));
  const senders = await readSenders(prisma, context);
  const signInExperience = await readSignInExperience(prisma);
  const signInVersion = await readSettingsVersion(prisma);
  const state = { records, senders, signInExperience, signInVersion };
  return { ...state, digest: digestOf(context, state) };
}

type Row = { readonly id: string; readonly version: number };
type Reader = (
  prisma: PrismaClient,
  toRecord: ToRecord,
  context: Services,
) => Promise<StateRecord[]>;
type ToRecord = <R extends Row>(
  kind: RecordKindName,
  row: R,
  other: { readonly values?: Values } & Partial<Omit<StateRecord, 'values'>> &
    Pick<StateRecord, 'name'>,
) => StateRecord;

/** Makes records of rows: the values are the columns that a document names, and those given beside. */
const recordMaker =
  (schema: GraphQLSchema): ToRecord =>
  (kind, row, { values = {}, ...other }) => {
    const known = { ...row, ...values };
    const fields = [...fieldsOf(schema, kind), ...Object.keys(recordKind(kind).links ?? {})];
    return {
      kind,
      id: row.id,
      version: row.version,
      isOwn: false,
      secrets: {},
      ...other,
      values: Object.fromEntries(
        fields
          .filter((field) => known[field as keyof typeof known] !== undefined)
          .map((field) => [field, known[field as keyof typeof known]]),
      ),
    };
  };

const inOrder = { orderBy: { id: 'asc' } } as const;
const scopeName = {
  select: { name: true, resource: { select: { indicator: true } } },
} as const;

type NamedScope = { readonly name: string; readonly resource: { readonly indicator: string } };
const calledBy = ({ name, resource }: NamedScope) => nameOfPart(resource.indicator, name);
const namesOf = (links: readonly { readonly scope: NamedScope }[]): string[] =>
  links.map(({ scope }) => calledBy(scope)).sort();

const readers: readonly Reader[] = [
  async ({ resource }, record) =>
    (await resource.findMany(inOrder)).map((row) =>
      record('RESOURCE', row, { name: row.indicator, isOwn: isReservedIndicator(row.indicator) }),
    ),
  async ({ scope }, record) =>
    (await scope.findMany({ ...inOrder, include: { resource: true } })).map((row) =>
      record('SCOPE', row, {
        name: calledBy(row),
        ownerId: row.resourceId,
        isOwn: isReservedIndicator(row.resource.indicator),
      }),
    ),
  async ({ builtIn, role }, record) => {
    const own = new Set((await builtIn.findMany()).map(({ recordId }) => recordId));
    const include = { scopes: { select: { scope: scopeName } } };
    return (await role.findMany({ ...inOrder, include })).map(({ scopes, ...row }) =>
      record('ROLE', row, {
        name: row.name,
        isOwn: own.has(row.id) || row.name === adminRoleName,
        values: { scopes: namesOf(scopes) },
      }),
    );
  },
  async ({ organizationScope }, record) =>
    (await organizationScope.findMany(inOrder)).map((row) =>
      record('ORGANIZATION_SCOPE', row, { name: row.name }),
    ),
  async ({ organizationRole }, record) => {
    const include = {
      scopes: { select: { organizationScope: { select: { name: true } } } },
      resourceScopes: { select: { scope: scopeName } },
    };
    return (await organizationRole.findMany({ ...inOrder, include })).map((row) =>
      record('ORGANIZATION_ROLE', row, {
        name: row.name,
        values: {
          scopes: row.scopes.map(({ organizationScope }) => organizationScope.name).sort(),
          resourceScopes: namesOf(row.resourceScopes),
        },
      }),
    );
  },
  async ({ application }, record) => {
    const include = {
      roles: { select: { role: { select: { name: true } } } },
      trustedIssuers: inOrder,
      crossAppConnections: inOrder,
    };
    // What registered itself is not set up here, and calls itself what it likes.
    const where = { origin: 'ADMINISTRATION' } as const;
    return (await application.findMany({ ...inOrder, where, include })).flatMap((row) => {
      const roles = row.roles.map(({ role }) => role.name).sort();
      const isOwn = isBuiltInApplication(row.id) || roles.includes(adminRoleName);
      const part = (name: string) => ({
        name: nameOfPart(row.name, name),
        ownerId: row.id,
        isOwn,
      });
      return [
        record('APPLICATION', row, { name: row.name, isOwn, values: { roles } }),
        ...row.trustedIssuers.map((one) => record('TRUSTED_ISSUER', one, part(one.name))),
        ...row.crossAppConnections.map((one) =>
          record('CROSS_APP_CONNECTION', one, part(one.issuer)),
        ),
      ];
    });
  },
  async ({ webhook }, record, { cipher }) =>
    (await webhook.findMany(inOrder)).map((row) => {
      const secrets = openHeaders(cipher, row);
      const events = row.events.map((name) => enumValueOf(name as EventName)).sort();
      const headers = Object.keys(secrets).sort();
      return record('WEBHOOK', row, { name: row.name, values: { events, headers }, secrets });
    }),
  async ({ identityProvider }, record, { cipher }) => {
    const include = { emailDomains: { select: { domain: true } } };
    return (await identityProvider.findMany({ ...inOrder, include })).map((row) => {
      const { clientSecret } = clientOf(cipher, row);
      return record('IDENTITY_PROVIDER', row, {
        name: row.name,
        values: {
          emailDomains: row.emailDomains.map(({ domain }) => domain).sort(),
          clientSecret: undefined,
        },
        secrets: clientSecret === null ? {} : { clientSecret },
      });
    });
  },
];

async function readSenders(
  prisma: PrismaClient,
  { cipher }: Services,
): Promise<Partial<Record<SenderChannel, StateSender>>> {
  const senders: Partial<Record<SenderChannel, StateSender>> = {};
  for (const {
    channel,
    kind,
    settings,
    secret,
    updatedAt,
  } of await prisma.messageSender.findMany()) {
    senders[channel === 'EMAIL' ? 'email' : 'sms'] = {
      kind: kind === 'SMTP' ? 'smtp' : 'http',
      values: settings as Values,
      secret: secret === null ? null : openSenderSecret(cipher, { channel, secret }),
      updatedAt: updatedAt.toISOString(),
    };
  }
  return senders;
}

function digestOf({ cipher }: Services, state: Omit<State, 'digest'>): string {
  const secret = cipher.keptKey('configuration-digest');
  // Keyed, so that nobody can try secrets against the digest.
  return createHmac('sha256', secret)
    .update(createHash('sha256').update(JSON.stringify(state)).digest())
    .digest('base64url');
}
