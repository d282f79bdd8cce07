import {
  ConflictError,
  type ErrorCode,
  errorCodes,
  type InputIssue,
  InvalidInputError,
  NotAllowedError,
  NotFoundError,
  type Refusal,
} from '../errors.ts';
import { builder } from './builder.ts';

const descriptions: Record<ErrorCode, string> = {
  INVALID_INPUT: 'Fields of the input break their rules.',
  NOT_FOUND: 'Nothing has the id given.',
  CONFLICT: 'Another record has the value of a unique field.',
  NOT_ALLOWED: 'A rule forbids it.',
};

/** The kinds of failures. */
export const ErrorCodeEnum = builder.enumType('ErrorCode', {
  description: 'What kind of failure it was, for a program to branch on.',
  values: Object.fromEntries(
    errorCodes.map((code) => [code, { description: descriptions[code] }]),
  ) as Record<ErrorCode, { description: string }>,
});

const ErrorInterface = builder.interfaceRef<Refusal>('Error').implement({
  description:
    'A request that was understood and declined: nothing was written, no event was raised.',
  fields: (t) => ({
    code: t.expose('code', { type: ErrorCodeEnum, description: 'The kind of failure.' }),
    message: t.exposeString('message', { description: 'The failure in words, for a person.' }),
  }),
});

const Issue = builder.objectRef<InputIssue>('InputIssue').implement({
  description: 'One fault of an input.',
  fields: (t) => ({
    path: t.field({
      type: ['String'],
      description: "The way to the field, from the input's root; list positions are numbers.",
      resolve: ({ path }) => [...path],
    }),
    message: t.exposeString('message', { description: 'What is wrong there.' }),
  }),
});

builder.objectType(InvalidInputError, {
  name: 'InvalidInputError',
  description: descriptions.INVALID_INPUT,
  interfaces: [ErrorInterface],
  fields: (t) => ({
    issues: t.field({
      type: [Issue],
      description: 'Every fault, all of them at once.',
      resolve: ({ issues }) => [...issues],
    }),
  }),
});

builder.objectType(NotFoundError, {
  name: 'NotFoundError',
  description: descriptions.NOT_FOUND,
  interfaces: [ErrorInterface],
  fields: (t) => ({ id: t.exposeID('id', { description: 'The id that nothing has.' }) }),
});

builder.objectType(ConflictError, {
  name: 'ConflictError',
  description: descriptions.CONFLICT,
  interfaces: [ErrorInterface],
  fields: (t) => ({
    path: t.field({
      type: ['String'],
      description: "The way to the unique field, from the input's root.",
      resolve: ({ path }) => [...path],
    }),
  }),
});

builder.objectType(NotAllowedError, {
  name: 'NotAllowedError',
  description: descriptions.NOT_ALLOWED,
  interfaces: [ErrorInterface],
});
