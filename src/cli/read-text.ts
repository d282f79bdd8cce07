import { createReadStream } from 'node:fs';
import { CommandError, type Terminal } from './command.ts';

/**
 * Reads a text file, or the standard input for `-`.
 *
 * @param maxBytes The largest file.
 * @throws {CommandError} if it cannot be read, or is larger.
 */
export async function readText(
  file: string,
  { stdin }: Pick<Terminal, 'stdin'>,
  maxBytes: number,
): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of file === '-' ? stdin : createReadStream(file)) {
      const bytes = Buffer.from(chunk);
      length += bytes.length;
      if (length > maxBytes) break;
      chunks.push(bytes);
    }
  } catch (error) {
    throw new CommandError(`${file} cannot be read: ${(error as Error).message}`);
  }
  if (length > maxBytes) {
    throw new CommandError(`${file} has more than ${maxBytes / 2 ** 20} MiB`);
  }
  return Buffer.concat(chunks).toString();
}
