import type { DocumentNode } from 'graphql';

/** The most bytes of a document. */
export const maxDocumentBytes = 64 * 1024;

const maxCacheBytes = 32 * 1024 * 1024;
// Measured: 250 to 470 bytes a token, and 1.9 KB for the smallest document. The rest is for data kept by document.
const bytesPerToken = 600;
const bytesPerDocument = 2_500;

/** Parsed documents, by their text. */
export interface DocumentCache {
  get(text: string): DocumentNode | undefined;
  set(text: string, document: DocumentNode): void;
}

/** The memory that a document and its text need, in bytes. */
export const weightOf = (text: string, { tokenCount = 0 }: DocumentNode) =>
  bytesPerDocument + 2 * text.length + bytesPerToken * tokenCount;

/** Keeps the most recently used documents, up to a number of bytes. */
export function createDocumentCache(maxBytes = maxCacheBytes): DocumentCache {
  // A map keeps its keys in the order of insertion.
  const documents = new Map<string, DocumentNode>();
  let bytes = 0;
  return {
    get(text) {
      const document = documents.get(text);
      if (!document) return undefined;
      documents.delete(text);
      documents.set(text, document);
      return document;
    },
    set(text, document) {
      if (documents.has(text)) return;
      documents.set(text, document);
      bytes += weightOf(text, document);
      for (const [oldText, old] of documents) {
        if (bytes <= maxBytes) return;
        documents.delete(oldText);
        bytes -= weightOf(oldText, old);
      }
    },
  };
}
