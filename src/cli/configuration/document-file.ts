import { isMap, isNode, isScalar, isSeq, LineCounter, parseDocument, visit } from 'yaml';
import { CommandError, type Terminal } from '../command.ts';
import { readText } from '../read-text.ts';

// The service takes 1 MiB of what is sent: without comments, and as JSON.
const maxBytes = 16 * 2 ** 20;

/** A fault that the service found in a document. */
export interface DocumentFault {
  readonly path: readonly string[];
  readonly message: string;
}

/** A document of the configuration in a file. */
export interface DocumentFile {
  /** What is sent: with the secrets that the environment has. */
  readonly document: string;
  /** The names of variables that have no value. */
  readonly unset: readonly string[];
  /** Says a fault as compilers do: with file, line and column. */
  describe(fault: DocumentFault): string;
}

/**
 * Reads a document, and puts the values of variables in the places of `{ env: NAME }`.
 *
 * @throws {CommandError} if the file cannot be read, or is no YAML.
 */
export async function readDocumentFile(
  file: string,
  { environment, stdin }: Pick<Terminal, 'environment' | 'stdin'>,
): Promise<DocumentFile> {
  const text = await readText(file, { stdin }, maxBytes);
  const lines = new LineCounter();
  const parsed = parseDocument(text, { lineCounter: lines, version: '1.2', schema: 'core' });
  const [error] = [...parsed.errors, ...parsed.warnings];
  if (error) {
    const { line, col } = lines.linePos(error.pos[0]);
    throw new CommandError(`${file}:${line}:${col}: ${error.message.split('\n', 1)[0]}`);
  }
  // Before secrets take the places of their names.
  const places = parsed.clone().contents;
  const unset: string[] = [];
  visit(parsed, {
    Map(_key, node) {
      const [pair, ...others] = node.items;
      if (!pair || others.length > 0 || !isScalar(pair.key) || pair.key.value !== 'env') return;
      if (!isScalar(pair.value) || typeof pair.value.value !== 'string') return;
      const value = environment[pair.value.value];
      if (value === undefined) unset.push(pair.value.value);
      return value === undefined ? undefined : parsed.createNode(value);
    },
  });
  return {
    document: JSON.stringify(parsed.toJS()),
    unset,
    describe({ path, message }) {
      const { line, col } = lines.linePos(positionOf(places, path));
      return `${file}:${line}:${col}: ${path.join('.')}: ${message}`;
    },
  };
}

/** Where a path leads to, or else the last part of it that is there. */
function positionOf(node: unknown, [step, ...rest]: readonly string[], parent = 0): number {
  if (step === undefined) return parent;
  if (isMap(node)) {
    const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === step);
    const start = isScalar(pair?.key) ? pair.key.range?.[0] : undefined;
    return pair ? positionOf(pair.value, rest, start ?? parent) : parent;
  }
  const item = isSeq(node) ? node.items[Number(step)] : undefined;
  const start = isNode(item) ? item.range?.[0] : undefined;
  return item === undefined ? parent : positionOf(item, rest, start ?? parent);
}
