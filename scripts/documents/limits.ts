import { maxKeys } from '../../src/applications/keys.ts';
import { maxActedFor, maxRefreshTokenReuseSeconds } from '../../src/applications/settings.ts';
import { maxClaimRules } from '../../src/applications/trusted-issuers/fields.ts';
import { windowSeconds } from '../../src/auth/dpop/proof.ts';
import { maxEvaluations, maxNameLength, maxPageSize } from '../../src/authzen/requests.ts';
import { maxBodyBytes } from '../../src/body-limits.ts';
import { environment } from '../../src/config.ts';
import { maxWaitingConfigurations } from '../../src/configuration/apply.ts';
import { maxConfigurationBytes } from '../../src/configuration/document.ts';
import { maxMessageBytes } from '../../src/events/bounds.ts';
import { maxBacklogBytes } from '../../src/events/feed/subscriber.ts';
import { limits } from '../../src/graphql/builder.ts';
import { costLimits } from '../../src/graphql/cost.ts';
import { maxSearchLength } from '../../src/graphql/lists/searching.ts';
import { maxDocumentBytes } from '../../src/http/document-cache.ts';
import { timeoutsByDefault } from '../../src/http/listener.ts';
import { maxJsonBytes, maxJsonDepth } from '../../src/input.ts';
import { idTokenTtlSeconds } from '../../src/keys/signing-keys.ts';
import {
  maxParameterLength,
  maxQueryLength,
  unfinishedShare,
} from '../../src/oidc/provider/request-bounds.ts';
import {
  familyTtlSeconds,
  refreshTokenTtlSeconds,
} from '../../src/oidc/provider/storage/grant-lifetime.ts';
import { maxSuccessors } from '../../src/oidc/provider/storage/refresh-reuse.ts';
import { maxActors } from '../../src/oidc/token/grant-state.ts';
import { maxAheadSeconds } from '../../src/oidc/token/keys/client-assertion.ts';
import { maxMembersACall } from '../../src/organizations/members.ts';
import { maxMembersAnEvent } from '../../src/organizations/payload.ts';
import { maxReceivedBytes } from '../../src/outbound/agent.ts';
import { keptBytes, readBytes } from '../../src/outbound/attempt.ts';
import { maxPersonalAccessTokens } from '../../src/subject-tokens/personal-access-token.ts';
import {
  maxWaitingSubjectTokens,
  subjectTokenTtlSeconds,
} from '../../src/subject-tokens/subject-token.ts';
import { maxWaitingPasswords } from '../../src/users/hash-queue.ts';
import { maxWaitingImportedChecks } from '../../src/users/import/imported-checks.ts';
import { maxRows } from '../../src/users/import/operations.ts';
import { maxReplayed } from '../../src/webhooks/delivery/by-hand.ts';
import { failureLimitMs, retryDelaysMs } from '../../src/webhooks/delivery/schedule.ts';
import { maxHeaders } from '../../src/webhooks/endpoint/own-headers.ts';
import { table } from './markdown.ts';
import { bytes, number, time } from './quantities.ts';
import { protectionRows, sessionRows } from './sign-in.ts';

const { MAX_CONNECTIONS, MAX_QUEUE_MS, EVENT_RETENTION_DAYS, WEBHOOK_TIMEOUT_SECONDS } =
  environment.parse({});

const requests = [
  ['body of `/graphql` and `/api`', bytes(maxBodyBytes.management), '`PAYLOAD_TOO_LARGE`, 413'],
  [
    'body without a good access token',
    bytes(maxBodyBytes.managementUnknown),
    '`PAYLOAD_TOO_LARGE`, 413',
  ],
  ['questions in one call of `/access/v1/evaluations`', number(maxEvaluations), '400'],
  ['an id or a name there', `${number(maxNameLength)} characters`, '400'],
  ['entries in a page of `/access/v1/search`', number(maxPageSize), 'the next page has the others'],
  ['a document of the configuration', bytes(maxConfigurationBytes), '`INVALID_INPUT`'],
  ['body of the token endpoint', bytes(maxBodyBytes.token), '413 `invalid_request`'],
  ['body of `/experience/graphql`', bytes(maxBodyBytes.experience), '413'],
  ['body of `/account/graphql`', bytes(maxBodyBytes.account), '413'],
  [
    'a form of the sign-in pages; an authorization or sign-out request by POST',
    bytes(maxBodyBytes.page),
    '413 and a page',
  ],
  [
    'the query of an authorization or sign-out request',
    `${number(maxQueryLength)} characters`,
    '400 and a page',
  ],
  ['one of its parameters', `${number(maxParameterLength)} characters`, '400 and a page'],
  [
    'unfinished sign-ins of one client address; as many again without a browser',
    number(unfinishedShare),
    'new ones replace the oldest',
  ],
  [
    'the time in which a request must arrive, headers and body',
    time(timeoutsByDefault.receive / 1000),
    '408, and the connection ends',
  ],
  [
    'the time that an answer waits for its reader',
    time(timeoutsByDefault.stall / 1000),
    'the connection ends',
  ],
  [
    'passwords of people that wait to be hashed in one process, and as many of the management API',
    number(maxWaitingPasswords),
    '`RATE_LIMITED`, 429',
  ],
  [
    'passwords that wait to be checked against an imported digest in one process',
    number(maxWaitingImportedChecks),
    '`RATE_LIMITED`, 429',
  ],
  [
    'documents of the configuration that wait to be compared or applied in one process',
    number(maxWaitingConfigurations),
    '`RATE_LIMITED`, 429',
  ],
  [
    'the wait of a request for its turn: `MAX_QUEUE_MS`',
    `${number(MAX_QUEUE_MS)} ms`,
    '`OVERLOADED`, 503; `temporarily_unavailable` at the token endpoint',
  ],
  ['a GraphQL document', bytes(maxDocumentBytes), '`GRAPHQL_PARSE_FAILED`'],
  ['tokens in a document', number(limits.tokens), '`GRAPHQL_PARSE_FAILED`'],
  ['aliases in a document', number(limits.aliases), '`GRAPHQL_VALIDATION_FAILED`'],
  ['levels of fields', number(costLimits.depth), '`QUERY_TOO_COMPLEX`'],
  ['fields of one selection', number(costLimits.breadth), '`QUERY_TOO_COMPLEX`'],
  [
    'cost: 1 for each field, times the page size of each list above it',
    number(costLimits.complexity),
    '`QUERY_TOO_COMPLEX`',
  ],
  ['records in a page; 20 by default', number(limits.pageSize), '`BAD_USER_INPUT`'],
  ['characters of `search`', number(maxSearchLength), '`BAD_USER_INPUT`'],
];

const inputs = [
  ['users in one `importUsers`', number(maxRows)],
  ['members in one call', number(maxMembersACall)],
  ['members in one event; a larger change is several events', number(maxMembersAnEvent)],
  ['the message of an event; what would make a larger one is refused', bytes(maxMessageBytes)],
  [
    'the message of a webhook with a `query`; beyond it the result is an error, `QUERY_TOO_COMPLEX`',
    bytes(maxMessageBytes),
  ],
  ['`customData` and `profile`, each as JSON', bytes(maxJsonBytes)],
  ['levels of nesting in them', number(maxJsonDepth)],
  ['keys of an application', number(maxKeys)],
  ['applications that one may act for', number(maxActedFor)],
  ['rules of a trusted issuer', number(maxClaimRules)],
];

const tokens = [
  ['the lifetime of an ID token', time(idTokenTtlSeconds)],
  ['the lifetime of a refresh token, which each use replaces', time(refreshTokenTtlSeconds)],
  ['the lifetime of a family of refresh tokens', time(familyTtlSeconds)],
  ['the time in which a used refresh token may come again', time(maxRefreshTokenReuseSeconds)],
  ['the refresh tokens that can replace one', String(maxSuccessors)],
  [
    'the lifetime of a subject token of `createSubjectToken`, and of what is issued for it',
    time(subjectTokenTtlSeconds),
  ],
  [
    'subject tokens of a user that wait to be exchanged; beyond it `NOT_ALLOWED`',
    number(maxWaitingSubjectTokens),
  ],
  [
    'personal access tokens of a user that have not expired; beyond it `NOT_ALLOWED`',
    number(maxPersonalAccessTokens),
  ],
  ['how far ahead a client assertion may expire', time(maxAheadSeconds)],
  ['how far from now a proof of possession (DPoP) was made', time(windowSeconds)],
  ['actors in the `act` chain of an exchanged token', number(maxActors)],
];

const live = [
  ['open sockets and streams of one process: `MAX_CONNECTIONS`', number(MAX_CONNECTIONS)],
  [
    'bytes that may wait for one subscriber; beyond it, the socket closes with 1013',
    bytes(maxBacklogBytes),
  ],
  ['the retention of events: `EVENT_RETENTION_DAYS`', time(EVENT_RETENTION_DAYS * 86_400)],
  ['the time for one attempt to deliver: `WEBHOOK_TIMEOUT_SECONDS`', time(WEBHOOK_TIMEOUT_SECONDS)],
  [
    'attempts after the first',
    `${retryDelaysMs.length}: after ${retryDelaysMs.map((ms) => time(ms / 1000)).join(', ')}`,
  ],
  ['the time after which a webhook that only fails is disabled', time(failureLimitMs / 1000)],
  [
    'bytes of a receiver’s answer that are read; that are kept',
    `${bytes(readBytes)}, ${bytes(keptBytes)}`,
  ],
  [
    'all bytes that come in answer to one request; beyond it, the connection ends',
    bytes(maxReceivedBytes),
  ],
  ['headers that a webhook may add', number(maxHeaders)],
  ['events in one `replayEvents`', number(maxReplayed)],
];

/** Every limit, by topic. */
export const limitTables = (): string =>
  [
    `### Requests\n\n${table(['limit', 'at most', 'beyond it'], requests)}`,
    `### Input\n\nBeyond these the answer is \`INVALID_INPUT\`.\n\n${table(['limit', 'at most'], inputs)}`,
    `### Signing in\n\nThose marked * are [settings](sign-in.md#settings), with their defaults.\n\n${table(['what', 'how much', 'beyond it'], protectionRows())}\n\n${table(['what', 'how long'], sessionRows())}`,
    `### Tokens\n\n${table(['what', 'at most'], tokens)}`,
    `### Live events\n\n${table(['what', 'how much'], live)}`,
  ].join('\n\n');
