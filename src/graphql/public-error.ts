import {
  type ExecutionResult,
  type FormattedExecutionResult,
  GraphQLError,
  type GraphQLErrorExtensions,
  type GraphQLFormattedError,
} from 'graphql';
import type { Logger } from 'pino';
import { Overloaded } from '../admission/overloaded.ts';
import { sqlState } from '../db/sql.ts';
import { isUnreachable } from '../db/unreachable.ts';
import { codeOfUncoded, failures, isRequestErrorCode, type RequestErrorCode } from '../failures.ts';
import { requestError } from './request-error.ts';

/** Whether an error was written for the client: a GraphQLError, unless it wraps another error. */
export const isForClient = ({ originalError }: GraphQLError): boolean =>
  originalError == null || (originalError instanceof GraphQLError && isForClient(originalError));

/** The error that a client sees. A fault is masked; the log has the details. */
export function maskFault(error: unknown, requestId: string, log: Logger): GraphQLError {
  if (error instanceof GraphQLError && isForClient(error)) {
    if (!isRequestErrorCode(error.extensions['code'])) error.extensions['code'] = codeOfUncoded;
    return error;
  }
  if (error instanceof Overloaded) return requestError('OVERLOADED', error.message);
  const refusal = refusedStates.get(sqlState(originalOf(error)) ?? '');
  if (refusal) return inPlaceOf(error, requestError('BAD_USER_INPUT', refusal));
  if (isUnreachable(error)) {
    log.warn({ err: error, requestId }, 'the database cannot be reached');
    return inPlaceOf(
      error,
      requestError('SERVICE_UNAVAILABLE', 'The database cannot be reached. Try again in a moment.'),
    );
  }
  log.error({ err: error, requestId }, 'a GraphQL operation failed');
  return inPlaceOf(
    error,
    requestError(
      'INTERNAL_SERVER_ERROR',
      'Internal error. The log has the details under the request id.',
      { requestId },
    ),
  );
}

const originalOf = (error: unknown) =>
  error instanceof GraphQLError ? error.originalError : error;

/**
 * What PostgreSQL refuses because of the request, by SQLSTATE. Operations check such values themselves and report them
 * as issues; an id or a search is only looked up.
 */
export const refusedStates = new Map([
  // character_not_in_repertoire
  ['22021', 'Text cannot hold a NUL character.'],
]);

// Keeps the location in the document and the answer, and nothing else of the fault.
function inPlaceOf(fault: unknown, { message, extensions }: GraphQLError): GraphQLError {
  if (!(fault instanceof GraphQLError)) return new GraphQLError(message, { extensions });
  const { nodes, source, positions, path } = fault;
  return new GraphQLError(message, { nodes, source, positions, path, extensions });
}

/**
 * Gives an error of GraphQL or of a library a code of the contract, unless it has one. Libraries have their own codes,
 * such as BAD_REQUEST and OPERATION_RESOLUTION_FAILURE.
 *
 * @param http Options of the HTTP answer for Yoga, beside the status of the code.
 */
export function withCode(
  error: GraphQLError,
  code: RequestErrorCode = codeOfUncoded,
  http: object = {},
): GraphQLError {
  if (isRequestErrorCode(error.extensions['code'])) return error;
  const { message, nodes, source, positions, path, originalError } = error;
  const { status } = failures[code];
  const extensions = { ...error.extensions, code, http: { status, ...http } };
  return new GraphQLError(message, { nodes, source, positions, path, originalError, extensions });
}

/** The extensions of an error that are sent in its body: all but the status and headers of the answer. */
export function publicExtensions({ extensions }: GraphQLError): GraphQLErrorExtensions {
  const { http: _http, ...told } = extensions;
  return told;
}

/** An error as it is sent. It must be meant for the client. */
export const publicError = (error: GraphQLError): GraphQLFormattedError => ({
  ...error.toJSON(),
  extensions: { code: codeOfUncoded, ...publicExtensions(error) },
});

/** Errors as they are sent; faults are masked. */
export const publicErrors = (errors: readonly unknown[], requestId: string, log: Logger) =>
  errors.map((error) => publicError(maskFault(error, requestId, log)));

/** A result as it is sent, for transports without Yoga's own response; faults are masked. */
export function publicResult(
  { errors, ...result }: ExecutionResult,
  requestId: string,
  log: Logger,
): FormattedExecutionResult {
  return errors ? { ...result, errors: publicErrors(errors, requestId, log) } : result;
}
