import type { CallToolResult, McpServer } from '@modelcontextprotocol/server';
import { type FormattedExecutionResult, OperationTypeNode } from 'graphql';
import { z } from 'zod';
import { dryRun } from '../graphql/mutations/rehearsal.ts';
import { publicErrors } from '../graphql/public-error.ts';
import { requestError } from '../graphql/request-error.ts';
import type { Given, ServerContext } from '../http/graphql.ts';
import type { Actor, Services } from '../services.ts';
import { digestOfTrial, isDigestOfTrial } from './digest.ts';
import { searchOperations } from './search.ts';

/** Who calls a tool, and how their operations run. */
export interface ToolContext {
  readonly services: Services;
  readonly actor: Actor;
  /** Names the request in the log. */
  readonly requestId: string;
  readonly run: (
    given: Given,
    as: Pick<ServerContext, 'only' | 'isDryRun'>,
  ) => Promise<FormattedExecutionResult>;
}

const document = z
  .string()
  .describe('A GraphQL document with one operation. Values go into variables, not into the text.');
const variables = z
  .record(z.string(), z.unknown())
  .nullish()
  .transform((values) => values ?? {})
  .describe('The values of the variables that the document declares.');

/** Adds the tools of the management API. */
export function addTools(server: McpServer, context: ToolContext): void {
  const { services, actor, run } = context;
  server.registerTool(
    'search_operations',
    {
      title: 'Search operations',
      description:
        'Finds queries and mutations by words, such as "suspend user", or by their names. The best ones come with their arguments, scopes and types, others by name. The name of a type shows that type. No words list all names.',
      inputSchema: z.strictObject({ query: z.string().max(1_000).describe('Words or names.') }),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    ({ query }) => answering(context, async () => searchOperations(query)),
  );
  server.registerTool(
    'query',
    {
      title: 'Query',
      description: 'Runs a GraphQL query of the management API.',
      inputSchema: z.strictObject({ document, variables }),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    ({ document, variables }) =>
      answering(context, () =>
        run({ query: document, variables }, { only: OperationTypeNode.QUERY }),
      ),
  );
  server.registerTool(
    'mutate',
    {
      title: 'Mutate',
      description:
        'Tries a GraphQL mutation of the management API: it checks every rule, answers as in earnest with the events that it would raise, and undoes all. The answer has a digest. To make the change, call it again with the same document and variables, confirm: true and that digest.',
      inputSchema: z.strictObject({
        document,
        variables,
        confirm: z.boolean().nullish().describe('True makes the change. It needs the digest.'),
        digest: z.string().max(100).nullish().describe('The digest that the dry run gave.'),
      }),
      annotations: { destructiveHint: true, openWorldHint: false },
    },
    ({ document, variables, confirm, digest }) =>
      answering(context, async () => {
        const given = { query: document, variables };
        const only = OperationTypeNode.MUTATION;
        const asked = { actor, document, variables };
        if (confirm) {
          if (!isDigestOfTrial(services, digest ?? '', asked)) throw wrongDigest();
          return run(given, { only });
        }
        const result = await run(given, { only, isDryRun: true });
        // What the service refused as a whole cannot be confirmed.
        return result.data ? { digest: digestOfTrial(services, asked), ...result } : result;
      }),
  );
}

const wrongDigest = () =>
  requestError(
    'BAD_USER_INPUT',
    `Nothing was changed: confirm needs the digest that the ${dryRun.name} of the same document and variables gave to the same caller.`,
  );

/** Answers with a result as JSON. What fails is masked as everywhere; the library would tell it all. */
async function answering(
  { services, requestId }: ToolContext,
  work: () => Promise<object>,
): Promise<CallToolResult> {
  const result = await work().catch((error: unknown) => ({
    errors: publicErrors([error], requestId, services.log),
  }));
  return {
    content: [{ type: 'text', text: JSON.stringify(result) }],
    isError: 'errors' in result,
  };
}
