import { type DocumentNode, GraphQLError, type ParseOptions, parse, type Source } from 'graphql';
import { limits } from './builder.ts';

/**
 * Parses a document within the limit of tokens.
 *
 * @throws {GraphQLError} on nesting too: the parser recurses, and its stack ends before the tokens do.
 */
export function parseDocument(source: string | Source, options?: ParseOptions): DocumentNode {
  try {
    return parse(source, { ...options, maxTokens: limits.tokens });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new GraphQLError('The document is nested too deeply.');
  }
}
