import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { closeAtEnd } from '../cleanup.ts';
import type { TestService } from '../service.ts';

/** The revisions of the protocol that a client may speak: without a handshake, or with one. */
export type Revision = '2026-07-28' | 'legacy';

/** The answer of a tool. */
export interface ToolAnswer {
  readonly isError: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: the documents of the tests are text, so their results have no type.
  readonly result: any;
}

/** Connects a client of the protocol's authors; it closes after the file's last test. */
export async function connectMcp(
  { url }: Pick<TestService, 'url'>,
  token: string,
  {
    revision = '2026-07-28',
    headers = {},
  }: { readonly revision?: Revision; readonly headers?: Readonly<Record<string, string>> } = {},
) {
  const mode = revision === 'legacy' ? revision : { pin: revision };
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  const answered: Response[] = [];
  await client.connect(
    new StreamableHTTPClientTransport(new URL('/mcp', url), {
      requestInit: { headers: { authorization: `Bearer ${token}`, ...headers } },
      fetch: async (input, init) => {
        const response = await fetch(input, init);
        answered.push(response);
        return response;
      },
    }),
  );
  closeAtEnd(() => client.close());
  return {
    client,
    /** The headers of the last answer. */
    lastHeaders: () => answered.at(-1)?.headers,
    async call(name: string, args: Record<string, unknown>): Promise<ToolAnswer> {
      const { content, isError } = await client.callTool({ name, arguments: args });
      const [block] = content;
      const text = block?.type === 'text' ? block.text : '';
      return { isError: isError === true, result: text.startsWith('{') ? JSON.parse(text) : text };
    },
  };
}
