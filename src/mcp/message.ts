import {
  createMcpHandler,
  isLegacyRequest,
  McpServer,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { FastifyRequest } from 'fastify';
import type { Caller } from '../auth/caller.ts';
import type { Once } from '../graphql/context.ts';
import { executeInProcess, type GraphQLServer } from '../http/graphql.ts';
import { thisNode } from '../service-status/about.ts';
import type { Services } from '../services.ts';
import { callOf } from '../web/call.ts';
import { addTools } from './tools.ts';

const instructions =
  'Signet is an identity service: users, roles, APIs, applications, organizations, sign-in, webhooks and their events. Find an operation and its types with search_operations, then write a GraphQL document for query or mutate. A mutation is tried first and changes nothing: show what it would do, then confirm it with the digest.';

/** Who sends a message, and the `Idempotency-Key` that came with it. */
interface From {
  readonly caller: Caller;
  readonly once: Once | undefined;
}

/** Answers a message of a client of any revision of the protocol: the body of a request. */
export async function answerMessage(
  services: Services,
  graphql: GraphQLServer,
  request: FastifyRequest,
  { caller, once }: From,
): Promise<Response> {
  const { body, headers, log } = request;
  const createServer = () => {
    const server = new McpServer(
      { name: 'signet', title: 'Signet', version: thisNode.version },
      { capabilities: { tools: { listChanged: false } }, instructions },
    );
    const from = { call: callOf(request), sender: { caller }, once };
    addTools(server, {
      services,
      actor: caller.actor,
      requestId: request.id,
      run: (params, as) => executeInProcess(graphql, request, { ...from, ...as, sent: { params } }),
    });
    return server;
  };
  const message = new Request(`${services.baseUrl}/mcp`, {
    method: 'POST',
    headers: Object.entries(headers).flatMap(([name, value]): [string, string][] =>
      isOfProtocol(name) ? [[name, String(value)]] : [],
    ),
  });
  const onerror = (err: Error) => log.debug({ err }, 'a message of MCP was refused');
  if (!(await isLegacyRequest(message, body))) {
    // No stream stays open: the tools never change.
    const options = { legacy: 'reject', maxSubscriptions: 0, onerror } as const;
    return createMcpHandler(createServer, options).fetch(message, { parsedBody: body });
  }
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  transport.onerror = onerror;
  await createServer().connect(transport);
  return transport.handleRequest(message, { parsedBody: body });
}

const isOfProtocol = (header: string): boolean =>
  header.startsWith('mcp-') || header === 'accept' || header === 'content-type';
