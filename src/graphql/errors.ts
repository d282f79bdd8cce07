import {
  ConfigurationMovedError,
  ConflictError,
  type ErrorCode,
  errorCodes,
  type InputIssue,
  type InputIssueCode,
  InteractionExpiredError,
  InvalidInputError,
  inputIssueCodes,
  LockedError,
  NotAllowedError,
  NotFoundError,
  type PasswordFault,
  PasswordRejectedError,
  RateLimitedError,
  type Refusal,
  VerificationFailedError,
  type VerificationMethod,
  VerificationRequiredError,
  VersionConflictError,
  verificationMethods,
} from '../errors.ts';
import { builder, everyGraph, type Graph } from './builder.ts';

const descriptions: Record<ErrorCode, string> = {
  INVALID_INPUT: 'Fields of the input break rules.',
  NOT_FOUND: 'There is no record with the given id.',
  CONFLICT: 'Another record already has this value in a unique field.',
  NOT_ALLOWED: 'A rule forbids it, or it would give rights that the caller does not hold.',
  VERSION_CONFLICT: 'The record has another version than expected: somebody has changed it.',
  VERIFICATION_FAILED:
    'The proof of identity is wrong, expired, used up, or unknown. The answer is the same for all.',
  LOCKED: 'Too many failures in a row: for a while, nothing is checked.',
  RATE_LIMITED: 'Too many requests in a short time.',
  PASSWORD_REJECTED: 'The password is not good enough.',
  INTERACTION_EXPIRED: 'The interaction is over: it expired, or it was finished.',
  VERIFICATION_REQUIRED:
    'The person has not proved who they are in this session lately. The sign-in does not count.',
};

// In the graphs for people, they prove who they are.
const personGraphs: Graph[] = ['experience', 'account'];

/** The kinds of failures. */
export const ErrorCodeEnum = builder.enumType('ErrorCode', {
  subGraphs: everyGraph,
  description: 'The kind of a failure. Programs can branch on it.',
  values: Object.fromEntries(
    errorCodes.map((code) => [code, { description: descriptions[code] }]),
  ) as Record<ErrorCode, { description: string }>,
});

const ErrorInterface = builder.interfaceRef<Refusal>('Error').implement({
  subGraphs: everyGraph,
  description:
    'A request that was understood and declined. Nothing was written, and no event was recorded.',
  fields: (t) => ({
    code: t.expose('code', { type: ErrorCodeEnum, description: 'The kind of failure.' }),
    message: t.exposeString('message', { description: 'The failure as a text for people.' }),
  }),
});

const InputIssueCodeEnum = builder.enumType('InputIssueCode', {
  description: 'The kind of an input fault. Programs can branch on it.',
  values: Object.fromEntries(
    Object.entries(inputIssueCodes).map(([code, description]) => [code, { description }]),
  ) as Record<InputIssueCode, { description: string }>,
});

const Issue = builder.objectRef<InputIssue>('InputIssue').implement({
  subGraphs: everyGraph,
  description: 'One fault of an input.',
  fields: (t) => ({
    path: t.field({
      type: ['String'],
      description: "The path to the field, from the input's root; list positions are numbers.",
      resolve: ({ path }) => [...path],
    }),
    code: t.field({
      type: InputIssueCodeEnum,
      description: 'The kind of fault.',
      resolve: ({ code }) => code ?? 'INVALID_VALUE',
    }),
    message: t.exposeString('message', {
      description: 'The fault as a text for people.',
    }),
  }),
});

builder.objectType(InvalidInputError, {
  name: 'InvalidInputError',
  subGraphs: everyGraph,
  description: descriptions.INVALID_INPUT,
  interfaces: [ErrorInterface],
  fields: (t) => ({
    issues: t.field({
      type: [Issue],
      description: 'All faults of the input.',
      resolve: ({ issues }) => [...issues],
    }),
  }),
});

builder.objectType(NotFoundError, {
  name: 'NotFoundError',
  subGraphs: everyGraph,
  description: descriptions.NOT_FOUND,
  interfaces: [ErrorInterface],
  fields: (t) => ({ id: t.exposeID('id', { description: 'The unknown id.' }) }),
});

builder.objectType(ConflictError, {
  name: 'ConflictError',
  subGraphs: everyGraph,
  description: descriptions.CONFLICT,
  interfaces: [ErrorInterface],
  fields: (t) => ({
    path: t.field({
      type: ['String'],
      description: "The path to the unique field, from the input's root.",
      resolve: ({ path }) => [...path],
    }),
  }),
});

builder.objectType(NotAllowedError, {
  name: 'NotAllowedError',
  subGraphs: everyGraph,
  description: descriptions.NOT_ALLOWED,
  interfaces: [ErrorInterface],
});

builder.objectType(ConfigurationMovedError, {
  name: 'ConfigurationMovedError',
  description: 'The configuration is another than expected: somebody has changed it.',
  interfaces: [ErrorInterface],
  fields: (t) => ({
    currentDigest: t.exposeString('currentDigest', {
      description: 'The digest of the configuration as it is.',
    }),
  }),
});

builder.objectType(VersionConflictError, {
  name: 'VersionConflictError',
  description: descriptions.VERSION_CONFLICT,
  interfaces: [ErrorInterface],
  fields: (t) => ({
    currentVersion: t.exposeInt('currentVersion', { description: 'The version of the record.' }),
  }),
});

builder.objectType(VerificationFailedError, {
  name: 'VerificationFailedError',
  subGraphs: personGraphs,
  description: descriptions.VERIFICATION_FAILED,
  interfaces: [ErrorInterface],
});

builder.objectType(LockedError, {
  name: 'LockedError',
  subGraphs: personGraphs,
  description: descriptions.LOCKED,
  interfaces: [ErrorInterface],
  fields: (t) => ({
    lockedUntil: t.expose('lockedUntil', {
      type: 'DateTime',
      description: 'When the next attempt is possible.',
    }),
  }),
});

builder.objectType(RateLimitedError, {
  name: 'RateLimitedError',
  subGraphs: personGraphs,
  description: descriptions.RATE_LIMITED,
  interfaces: [ErrorInterface],
  fields: (t) => ({
    retryAfterSeconds: t.exposeInt('retryAfterSeconds', {
      description: 'How long to wait, in seconds.',
    }),
  }),
});

const PasswordRejection = builder.objectRef<PasswordFault>('PasswordRejection').implement({
  subGraphs: personGraphs,
  description: 'One reason why a password is not good enough.',
  fields: (t) => ({
    code: t.exposeString('code', { description: 'The reason. Programs can branch on it.' }),
    message: t.exposeString('message', { description: 'The reason as a text for people.' }),
  }),
});

builder.objectType(PasswordRejectedError, {
  name: 'PasswordRejectedError',
  subGraphs: personGraphs,
  description: descriptions.PASSWORD_REJECTED,
  interfaces: [ErrorInterface],
  fields: (t) => ({
    reasons: t.field({
      type: [PasswordRejection],
      description: 'All reasons.',
      resolve: ({ reasons }) => [...reasons],
    }),
  }),
});

builder.objectType(InteractionExpiredError, {
  name: 'InteractionExpiredError',
  subGraphs: personGraphs,
  description: descriptions.INTERACTION_EXPIRED,
  interfaces: [ErrorInterface],
  fields: (t) => ({
    restartUrl: t.expose('restartUrl', {
      type: 'URL',
      nullable: true,
      description: 'Where a browser can begin again; null if the application must begin.',
    }),
  }),
});

const VerificationMethodEnum = builder.enumType('VerificationMethod', {
  subGraphs: personGraphs,
  description: 'A way in which a signed-in person can prove again who they are.',
  values: Object.fromEntries(
    Object.entries(verificationMethods).map(([name, description]) => [name, { description }]),
  ) as Record<VerificationMethod, { description: string }>,
});

builder.objectType(VerificationRequiredError, {
  name: 'VerificationRequiredError',
  subGraphs: personGraphs,
  description: descriptions.VERIFICATION_REQUIRED,
  interfaces: [ErrorInterface],
  fields: (t) => ({
    methods: t.field({
      type: [VerificationMethodEnum],
      description: 'The ways in which this person can prove it.',
      resolve: ({ methods }) => [...methods],
    }),
  }),
});
