import { applicationsOf, type Unproved } from '../../auth/access-token.ts';
import type { SetterScopes } from '../../auth/granting/setter-scopes.ts';
import { canonicalIndicator } from '../../auth/indicators.ts';
import {
  joinedApplications,
  joinedIds,
  splitIds,
  type TokenState,
  tokenStateColumns,
} from '../../auth/token-state.ts';
import { createSharedStatement } from '../../db/batch.ts';
import { askedTogether, type Sql, textForQuery } from '../../db/sql.ts';
import type { ApplicationType } from '../../generated/prisma/client.ts';
import { idForQuery } from '../../ids.ts';
import {
  heldScopes,
  joinResource,
  liveSecrets,
  membership,
  type TargetKind,
} from '../../permissions/held.ts';
import { kindOfTarget, type Target } from '../../permissions/target.ts';
import type { KnownCredentials } from './client-authentication.ts';

/** The most actors in a chain (RFC 8693 §4.1). */
export const maxActors = 8;

/** The database's answer about a client, a target, and the subject's scopes there. */
export interface GrantState extends KnownCredentials {
  /** Null if there is no such client. */
  readonly type: ApplicationType | null;
  readonly allowTokenExchange: boolean | null;
  readonly allowImpersonation: boolean | null;
  readonly allowPersonalAccessTokens: boolean | null;
  readonly requireDpop: boolean | null;
  readonly mayRebindTokens: boolean | null;
  readonly mayActFor: readonly string[] | null;
  readonly exchangeSubjectAudiences: readonly string[] | null;
  readonly exchangeResources: readonly string[] | null;
  readonly exchangeThirdPartySubjectTokens: boolean | null;
  /** What all the setters of the client held. */
  readonly setterScopes: SetterScopes | null;
  /** The registered spelling of the resource's indicator; null if no such resource is registered. */
  readonly indicator: string | null;
  /** The lifetime of the resource's access tokens; null if no such resource is registered. */
  readonly ttlSeconds: number | null;
  /** How the resource's access tokens are signed; null: as the service signs. */
  readonly signingAlg: string | null;
  readonly signingAlgBefore: string | null;
  /** Whether the subject belongs to the named organization. */
  readonly isMember: boolean;
  /** The requested scopes that the subject holds. */
  readonly scopes: readonly string[];
}

/** What the database also knows about a subject token. */
export type SubjectState = GrantState &
  TokenState & {
    /** For each application that the token came through, what everybody held who set it up, separated by spaces. */
    readonly subjectSetters: readonly string[];
    /** Those of the applications that the token came through that are a third party's now. */
    readonly thirdParties: readonly string[];
  };

/** The question of a grant to the database. Its values are not verified and may be malformed. */
export interface GrantQuestion {
  readonly clientId: string;
  readonly at: Date;
  readonly target: Target;
  readonly scopes: readonly string[];
}

// Concurrent requests share a statement: $1 is now, and q has a row for each request. Each part is one index lookup.
//
// What is the same for many of the requests is read once: for the first of q that names the client, and for the first
// whose token came through the same applications. The others have null there.
const client = `
  CASE WHEN q.client IS NOT NULL THEN (SELECT row_to_json(c) FROM (SELECT
    a."type", a."allowTokenExchange", a."allowImpersonation", a."allowPersonalAccessTokens",
    a."exchangeSubjectAudiences", a."exchangeResources", a."exchangeThirdPartySubjectTokens", a."setterScopes",
    a."jwks", a."jwksUri", a."keySetterScopes", a."requireDpop", a."mayRebindTokens",
    a."mayActFor", a."securityProfile",
    ARRAY(SELECT encode(x."digest", 'hex') || ' ' || coalesce(array_to_string(x."setterScopes", ' '), '')
            ${liveSecrets('a')}) AS "secrets") c) END AS "client"`;

const passed = splitIds('q.passed');
const passedClients = `
  CASE WHEN q.passed IS NOT NULL THEN (
    SELECT json_build_object(
             'clientsExist', count(*) = cardinality(${passed}),
             'subjectSetters', coalesce(json_agg(coalesce(array_to_string(i."setterScopes", ' '), '')), '[]'),
             'thirdParties', coalesce(json_agg(i."id") FILTER (WHERE i."isThirdParty"), '[]'))
      FROM "Application" i WHERE i."id" = ANY (${passed})) END AS "passed"`;

const resource = `r."indicator", r."accessTokenTtlSeconds" AS "ttlSeconds", r."signingAlg", r."signingAlgBefore"`;

/** The columns of `q`. */
const columns = [
  'client',
  'passed',
  'indicator',
  'canonical',
  'organization',
  'scopes',
  'subject',
  'jtis',
] as const;

const from = `
    FROM ${askedTogether(columns, 2)}
    LEFT JOIN "Application" a ON a."id" = q.client
    ${joinResource('LEFT JOIN')}`;

const clientStatement = (target: TargetKind) => `
  SELECT ${client}, ${resource}, ${membership('application')}, ${heldScopes('application', target)}
    ${from}
   ORDER BY q.n`;

const subjectStatement = (target: TargetKind) => `
  SELECT ${client}, ${passedClients}, ${resource}, ${membership('user')}, ${heldScopes('user', target)},
         ${tokenStateColumns(splitIds('q.jtis'))}
    ${from}
    LEFT JOIN "User" u ON u."id" = q.subject
   ORDER BY q.n`;

/** A row of `q`. */
type Row = Readonly<Record<(typeof columns)[number], string | null>>;

function rowOf({ clientId, target, scopes }: GrantQuestion) {
  return {
    // No application has an empty id.
    client: idForQuery(clientId, 'Application') ?? '',
    indicator: target.isOrganization ? null : textForQuery(target.indicator),
    canonical: target.isOrganization ? null : canonicalIndicator(target.indicator),
    // An impossible organization is not the same as none: it must not widen the result.
    organization:
      target.organizationId === undefined
        ? null
        : (idForQuery(target.organizationId, 'Organization') ?? ''),
    scopes: scopes.join(' '),
  };
}

const statements = {
  'grant-client-resource': clientStatement('resource'),
  'grant-client-organization': clientStatement('organization'),
  'grant-subject-resource': subjectStatement('resource'),
  'grant-subject-organization': subjectStatement('organization'),
};

type StatementName = keyof typeof statements;

/** The answer to a row of `q`. What it shares with others is only in the first of them. */
interface Answer {
  readonly client: object | null;
  readonly passed?: object | null;
}

/** A token that came through no application is as one whose application is gone. */
const noneExist = { clientsExist: false, subjectSetters: [], thirdParties: [] } as const;

/** The index of the row that first has each row's value. */
const firstOf = (values: readonly unknown[]): number[] => {
  const first = new Map(values.map((value, i) => [value, i] as const).reverse());
  return values.map((value) => first.get(value) as number);
};

type Asked = { readonly at: Date; readonly row: Row };

const answerTo =
  (name: StatementName) =>
  async (sql: Sql, questions: readonly Asked[]): Promise<readonly unknown[]> => {
    const asked = (column: (typeof columns)[number]) => questions.map(({ row }) => row[column]);
    const shared = { client: firstOf(asked('client')), passed: firstOf(asked('passed')) };
    const once = (column: keyof typeof shared) =>
      asked(column).map((value, i) => (shared[column][i] === i ? value : null));
    const answers = await sql.query<Answer>(name, statements[name], [
      questions.at(-1)?.at.toISOString(),
      ...columns.map((column) =>
        column === 'client' || column === 'passed' ? once(column) : asked(column),
      ),
    ]);
    const parts = answers.map(({ client, passed, ...own }) => ({ client, passed, own }));
    return parts.map(({ own }, i) => ({
      ...own,
      ...parts[shared.client[i] as number]?.client,
      ...(parts[shared.passed[i] as number]?.passed ?? noneExist),
    }));
  };

// PostgreSQL looks each scope up. Thousands take 20 ms, for which the others of a statement would wait.
const maxSharedLength = 4_096;

const readersOf = (name: StatementName) => ({
  usual: createSharedStatement(answerTo(name)),
  large: createSharedStatement(answerTo(name), 1),
});
const readers = {
  'grant-client-resource': readersOf('grant-client-resource'),
  'grant-client-organization': readersOf('grant-client-organization'),
  'grant-subject-resource': readersOf('grant-subject-resource'),
  'grant-subject-organization': readersOf('grant-subject-organization'),
} satisfies Record<StatementName, unknown>;

const readRow = (sql: Sql, name: StatementName, at: Date, row: Row): Promise<unknown> =>
  readers[name][(row.scopes ?? '').length > maxSharedLength ? 'large' : 'usual'](sql, { at, row });

/**
 * The longest lineage that a token gets. The grant, one token for each actor, and the application that had the first are
 * ten; the rest is for what the actors' tokens came from.
 */
export const maxLineage = 40;
// Those of the lineage, two of each actor, and the token's own.
const maxApplications = maxLineage + 2 * maxActors + 1;

function revocableText({ jti, lineage }: Unproved<'jti' | 'lineage'>): string | null {
  if (typeof jti !== 'string') return null;
  const ancestors: unknown[] = Array.isArray(lineage) ? lineage.slice(0, maxLineage) : [];
  const isText = (id: unknown): id is string => typeof id === 'string';
  return textForQuery(joinedIds({ jti, lineage: ancestors.filter(isText) }));
}

/** Reads what a client may do for itself, in one statement that concurrent requests share. */
export function readClientState(sql: Sql, question: GrantQuestion): Promise<GrantState> {
  const { at, target } = question;
  const name = `grant-client-${kindOfTarget(target)}` as const;
  const row = rowOf(question);
  return readRow(sql, name, at, {
    ...row,
    subject: row.client,
    passed: null,
    jtis: null,
  }) as Promise<GrantState>;
}

/**
 * Reads what a client may do on a user's behalf, in one statement that concurrent requests share.
 *
 * @param claims The subject token's claims, not verified yet.
 */
export function readSubjectState(
  sql: Sql,
  question: GrantQuestion,
  claims: Unproved<'sub' | 'client_id' | 'jti' | 'act' | 'lineage'>,
): Promise<SubjectState> {
  const { at, target } = question;
  const name = `grant-subject-${kindOfTarget(target)}` as const;
  return readRow(sql, name, at, {
    ...rowOf(question),
    subject: idForQuery(claims.sub, 'User'),
    passed: joinedApplications(applicationsOf(claims).slice(0, maxApplications)),
    jtis: revocableText(claims),
  }) as Promise<SubjectState>;
}
