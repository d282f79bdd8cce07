import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { GraphQLError } from 'graphql';
import { maxBodyBytes } from '../body-limits.ts';
import { failures } from '../failures.ts';
import type { Services } from '../services.ts';
import { identify } from './identify.ts';

/** A body that is refused. */
export class BodyFault extends Error {
  override readonly name = 'BodyFault';
  readonly code: 'BAD_USER_INPUT' | 'PAYLOAD_TOO_LARGE' | 'UNSUPPORTED_MEDIA_TYPE';

  constructor(code: BodyFault['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * Makes these routes accept only JSON bodies. A body is read after its sender is known, up to a length that depends on
 * the sender, and parsed once. An empty body is undefined.
 *
 * @throws {BodyFault}, or the sender's refusal if the body is longer than unknown senders may send.
 */
export function takeJson(
  routes: FastifyInstance,
  services: Services,
  contentTypes: readonly string[],
): void {
  routes.removeAllContentTypeParsers();
  routes.addContentTypeParser([...contentTypes], async (request: FastifyRequest) => {
    const sender = await identify(services, request);
    const isKnown = 'caller' in sender && sender.caller !== null;
    try {
      const limit = isKnown ? maxBodyBytes.management : maxBodyBytes.managementUnknown;
      const text = await readText(request.raw, limit);
      return text === '' ? undefined : parseJson(text);
    } catch (error) {
      // A sender with an expired token must learn that, not that the body is too large for unknown senders.
      throw 'refusal' in sender ? sender.refusal : error;
    }
  });
}

/** The fault of a body, if an error reports one. */
export function bodyFaultOf(
  error: unknown,
  contentTypes: readonly string[],
): BodyFault | undefined {
  if (error instanceof BodyFault) return error;
  const { code, message } = error as { code?: string; message: string };
  // The second is for QUERY requests, which must name a type (RFC 10008 §2).
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE' || code === 'FST_ERR_ROUTE_MISSING_CONTENT_TYPE') {
    return new BodyFault('UNSUPPORTED_MEDIA_TYPE', bodyRule(contentTypes));
  }
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return new BodyFault('PAYLOAD_TOO_LARGE', message);
  return code === 'FST_ERR_CTP_INVALID_CONTENT_LENGTH'
    ? new BodyFault('BAD_USER_INPUT', message)
    : undefined;
}

/** What a request with a body of another type, or of none, is told. */
export const bodyRule = (contentTypes: readonly string[]) =>
  `The body must be ${contentTypes.join(' or ')}.`;

/** A refused body as an error of GraphQL, which has one code for all of them and tells them apart by status. */
export const errorOfBody = ({ code, message }: Pick<BodyFault, 'code' | 'message'>): GraphQLError =>
  badRequest(failures[code].status, message);

/** A malformed request as an error of GraphQL, with its HTTP status. */
export const badRequest = (status: number, message: string): GraphQLError =>
  new GraphQLError(message, { extensions: { code: 'BAD_USER_INPUT', http: { status } } });

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new BodyFault('BAD_USER_INPUT', 'The body is not JSON.');
  }
}

function readText(message: IncomingMessage, limit: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const stop = () => {
      message.off('data', take);
      message.off('end', end);
      message.off('error', fail);
      message.off('close', leave);
    };
    const fail = (error: Error) => {
      stop();
      reject(error);
    };
    const refuse = () => {
      fail(new BodyFault('PAYLOAD_TOO_LARGE', `The body must have at most ${limit} bytes.`));
      message.pause();
    };
    const take = (chunk: Buffer) => {
      length += chunk.length;
      if (length > limit) refuse();
      else chunks.push(chunk);
    };
    const end = () => {
      stop();
      resolve(Buffer.concat(chunks).toString());
    };
    const leave = () => fail(new BodyFault('BAD_USER_INPUT', 'The body was not sent to its end.'));
    if (Number(message.headers['content-length']) > limit) {
      refuse();
      return;
    }
    message.on('data', take);
    message.once('end', end);
    message.once('error', fail);
    message.once('close', leave);
  });
}
