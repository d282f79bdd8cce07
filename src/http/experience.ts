import { AsyncLocalStorage } from 'node:async_hooks';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  type ASTVisitor,
  type FieldNode,
  GraphQLError,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type ValidationContext,
} from 'graphql';
import { createYoga, type Plugin } from 'graphql-yoga';
import type { Logger } from 'pino';
import { maxBodyBytes } from '../body-limits.ts';
import { findBrowserInteraction } from '../experience/access/browser.ts';
import { findTokenInteraction } from '../experience/access/headless-token.ts';
import { isOwnOrigin } from '../experience/access/own-origin.ts';
import { visitorOf } from '../experience/access/visitor.ts';
import type { GraphQLContext, Visit } from '../graphql/context.ts';
import { maskFault, publicError } from '../graphql/public-error.ts';
import { requestError } from '../graphql/request-error.ts';
import { limitAddresses } from '../protection/addresses.ts';
import { experienceSchema } from '../schema.ts';
import { type Services, systemActor } from '../services.ts';
import { HashingBusy } from '../users/hash-queue.ts';
import { contractPlugin, parserAndValidationCache } from './graphql.ts';
import { bodyFaultOf, errorOfBody } from './json-body.ts';
import { suggestionsPlugin } from './suggestions.ts';

const path = '/experience/graphql';
const contentTypes = ['application/json'];
const graphqlType = 'application/graphql-response+json';

// Yoga has its own `request`.
interface ServerContext {
  readonly asked: FastifyRequest;
  readonly reply: FastifyReply;
  /** Collects cookies for the answer. */
  readonly cookies: string[];
}

/** A validation rule: each operation has one root field, without an alias. */
function oneRootField(context: ValidationContext): ASTVisitor {
  return {
    OperationDefinition(operation) {
      const fields = rootFields(context, operation);
      if (fields.length === 1 && fields.every(({ alias }) => alias === undefined)) return;
      context.reportError(
        requestError('QUERY_TOO_COMPLEX', 'A request has one root field, without an alias.'),
      );
    },
  };
}

function rootFields(context: ValidationContext, operation: OperationDefinitionNode): FieldNode[] {
  const seen = new Set<string>();
  const fieldsOf = ({ selections }: SelectionSetNode): FieldNode[] =>
    selections.flatMap((selection) => {
      if (selection.kind === Kind.FIELD) return [selection];
      if (selection.kind === Kind.INLINE_FRAGMENT) return fieldsOf(selection.selectionSet);
      const name = selection.name.value;
      // Another rule refuses fragments in a ring.
      if (seen.has(name)) return [];
      seen.add(name);
      const fragment = context.getFragment(name);
      return fragment ? fieldsOf(fragment.selectionSet) : [];
    });
  return fieldsOf(operation.selectionSet);
}

const oneRootFieldPlugin: Plugin = {
  onValidate({ addValidationRule }) {
    addValidationRule(oneRootField);
  },
};

/**
 * Finds the sender of a request: by the token of an interaction, or by a browser's cookie if the request can only come
 * from a page of this service.
 *
 * @throws FORBIDDEN for a cookie from another origin; UNAUTHENTICATED for an unknown token.
 */
async function openVisit(
  services: Services,
  { asked: request, reply, cookies }: ServerContext,
): Promise<Visit> {
  const { authorization } = request.headers;
  const keepCookie = (cookie: string) => void cookies.push(cookie);
  if (authorization !== undefined) {
    const access = await findTokenInteraction(services, authorization);
    if (!access) {
      throw requestError('UNAUTHENTICATED', 'The interaction token is refused.');
    }
    // A program sends no cookies, and here they would prove nothing.
    const visitor = { ...visitorOf(request), cookies: undefined };
    return { visitor, access, keepCookie: () => undefined };
  }
  const isFromPage = request.headers['x-signet-experience'] === '1';
  if (!isFromPage)
    return { visitor: { ...visitorOf(request), cookies: undefined }, access: null, keepCookie };
  if (!isOwnOrigin(services, request.headers, { isRequired: true })) {
    throw requestError('FORBIDDEN', 'The cookie is taken from pages of this service alone.');
  }
  const found = await findBrowserInteraction(services, request.raw, reply.raw);
  if (found === undefined || found instanceof Error)
    return { visitor: visitorOf(request), access: found ?? null, keepCookie };
  const locales = found.request.params['ui_locales'];
  return { visitor: visitorOf(request, locales), access: found.access, keepCookie };
}

/** Mounts the Experience API, for people who sign in: JSON by POST only, one root field for each request. */
export async function mountExperience(http: FastifyInstance, services: Services): Promise<void> {
  const answering = new AsyncLocalStorage<FastifyRequest>();
  const yoga = createYoga<ServerContext, GraphQLContext>({
    schema: experienceSchema,
    graphqlEndpoint: path,
    landingPage: false,
    logging: false,
    graphiql: false,
    // Pages of other origins must not take part in a sign-in.
    cors: false,
    batching: false,
    parserAndValidationCache,
    context: async (server) => ({
      ...services,
      caller: null,
      actor: systemActor,
      traceId: server.asked.id,
      visit: await openVisit(services, server),
    }),
    maskedErrors: {
      maskError(error) {
        if (error instanceof GraphQLError && error.originalError instanceof HashingBusy) {
          return requestError(
            'RATE_LIMITED',
            'Too many passwords are being checked. Try again soon.',
          );
        }
        const request = answering.getStore();
        return maskFault(error, request?.id ?? 'none', (request?.log as Logger) ?? services.log);
      },
    },
    plugins: [
      contractPlugin(services.config.introspection),
      suggestionsPlugin(services.config),
      oneRootFieldPlugin,
    ],
  });

  await http.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      'application/json',
      { parseAs: 'string', bodyLimit: maxBodyBytes.experience },
      (_request, body, done) => done(null, body),
    );
    scope.setErrorHandler((error, request, reply) => {
      const fault = bodyFaultOf(error, contentTypes);
      const told = fault
        ? errorOfBody({ code: fault.code, message: bodyRule })
        : maskFault(error, request.id, request.log as Logger);
      const { http = {} } = told.extensions as { http?: { status?: number; headers?: object } };
      return reply
        .code(http.status ?? 500)
        .headers({ ...http.headers })
        .send({ errors: [publicError(told)] });
    });
    limitAddresses(scope, services, (reply) => reply.send(tooManyRequests));
    scope.post(path, async (request, reply) => {
      const cookies: string[] = [];
      // Other media types that a browser prefers are ignored.
      const type = request.headers.accept?.includes(graphqlType) ? graphqlType : 'application/json';
      const headers = { 'content-type': 'application/json', accept: type };
      const init = { method: 'POST', headers, body: String(request.body ?? '') };
      const response = await answering.run(request, () =>
        yoga.fetch(`http://localhost${path}`, init, { asked: request, reply, cookies }),
      );
      for (const [name, value] of response.headers) reply.header(name, value);
      if (cookies.length > 0) reply.header('set-cookie', cookies);
      const body = await response.text();
      // There is only one media type, so a document that did not run has one status.
      const hasRun = Object.hasOwn(JSON.parse(body) as object, 'data');
      return reply
        .code(response.status === 200 && !hasRun ? 400 : response.status)
        .header('cache-control', 'no-store')
        .send(Buffer.from(body));
    });
  });
}

const bodyRule = `The body must be application/json of at most ${maxBodyBytes.experience} bytes.`;

const tooManyRequests = {
  errors: [
    {
      message: 'Too many requests come from this address.',
      extensions: { code: 'RATE_LIMITED' },
    },
  ],
};
