import { readdir, stat } from 'node:fs/promises';
import { basename, extname, join, relative } from 'node:path';
import { LineCounter, parseDocument } from 'yaml';
import { isWithinDepth } from '../../input.ts';
import { CommandError, type Terminal } from '../command.ts';
import { readText } from '../read-text.ts';

/** A file of an export. */
export interface ExportFile {
  /** As it is shown; in a folder, its path from there. */
  readonly path: string;
  readonly value: unknown;
}

const mebibyte = 2 ** 20;
/** The largest file. Lists of users can be cut at any line. */
const maxBytes = 256 * mebibyte;
/** The largest YAML file: its parser takes some two hundred times as long as that of JSON. */
const maxYamlBytes = 8 * mebibyte;
/** The most levels of maps and lists. */
const maxDepth = 64;
/** The most files of a folder. */
const maxFiles = 10_000;

/**
 * Reads the files of an export: JSON, JSON lines or YAML. Of a folder, all that are named so; if it has a
 * `tenant.yaml`, only that.
 *
 * @throws {CommandError} naming the file and what is wrong with it.
 */
export async function readFiles(
  paths: readonly string[],
  terminal: Pick<Terminal, 'stdin'>,
): Promise<ExportFile[]> {
  const files: ExportFile[] = [];
  for (const path of paths) {
    const isFolder = path !== '-' && (await isDirectory(path));
    for (const file of isFolder ? await filesIn(path) : [path]) {
      const text = await readText(file, terminal, isYaml(file) ? maxYamlBytes : maxBytes);
      const value = parse(text.replace(/^\uFEFF/, ''), file);
      if (!isWithinDepth(value, maxDepth)) {
        throw new CommandError(`${file} has more than ${maxDepth} levels of maps and lists`);
      }
      files.push({ path: isFolder ? relative(path, file) : basename(file), value });
    }
  }
  return files;
}

const isYaml = (file: string) => /\.ya?ml$/i.test(file);

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    throw new CommandError(`${path} cannot be read: ${(error as Error).message}`);
  }
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const found = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((file) => ['.json', '.jsonl', '.ndjson', '.yaml', '.yml'].includes(extname(file)));
  // Beside it are code and pages, which its records name.
  const tenant = found.filter((file) => /^tenant\.ya?ml$/.test(relative(folder, file)));
  const files = (tenant.length > 0 ? tenant : found).toSorted();
  if (files.length === 0) throw new CommandError(`${folder} has no JSON and no YAML file`);
  if (files.length > maxFiles) throw new CommandError(`${folder} has more than ${maxFiles} files`);
  return files;
}

function parse(text: string, file: string): unknown {
  if (text.trim() === '') throw new CommandError(`${file} is empty`);
  if (!/^\s*[[{]/.test(text)) return parseYaml(text, file);
  try {
    return JSON.parse(text);
  } catch (error) {
    if (isYaml(file)) return parseYaml(text, file);
    return parseLines(text, file, error as Error);
  }
}

/** JSON lines: one value on each. */
function parseLines(text: string, file: string, whole: Error): unknown[] {
  const lines = text.split('\n');
  return lines.flatMap((line, index) => {
    if (line.trim() === '') return [];
    try {
      return [JSON.parse(line) as unknown];
    } catch (error) {
      // A first line that is no value by itself says that these are no lines.
      const told = index === 0 ? whole : (error as Error);
      const place = index === 0 ? file : `${file}:${index + 1}`;
      throw new CommandError(`${place} is no JSON: ${told.message}`);
    }
  });
}

function parseYaml(text: string, file: string): unknown {
  if (Buffer.byteLength(text) > maxYamlBytes) {
    throw new CommandError(`${file} has more than ${maxYamlBytes / mebibyte} MiB of YAML`);
  }
  const lines = new LineCounter();
  try {
    const parsed = parseDocument(text, { lineCounter: lines, version: '1.2', schema: 'core' });
    const [error] = parsed.errors;
    if (!error) return parsed.toJS();
    const { line, col } = lines.linePos(error.pos[0]);
    throw new CommandError(`${file}:${line}:${col}: ${error.message.split('\n', 1)[0]}`);
  } catch (error) {
    if (error instanceof CommandError) throw error;
    // Aliases that would grow without bounds, or lists in lists that the parser cannot follow.
    throw new CommandError(`${file} is no YAML that can be read: ${(error as Error).message}`);
  }
}
