import { once } from 'node:events';
import type { Writable } from 'node:stream';
import pg from 'pg';

/** What the driver's connection has for COPY; its types leave it out. */
interface CopyConnection {
  readonly stream: Writable;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
  sendCopyFail(message: string): void;
}

type Answered = (error: Error | undefined, result?: { readonly rowCount?: number | null }) => void;

/** `COPY … FROM STDIN`, which the driver by itself refuses. */
class CopyIn extends pg.Query {
  readonly #chunks: AsyncIterable<Buffer>;
  readonly #over: AbortSignal;
  readonly #fail: (error: unknown) => void;

  constructor(
    text: string,
    chunks: AsyncIterable<Buffer>,
    over: AbortSignal,
    fail: (error: unknown) => void,
    answered: Answered,
  ) {
    super(text, answered);
    this.#chunks = chunks;
    this.#over = over;
    this.#fail = fail;
  }

  /** Called by the driver once the server waits for rows. */
  handleCopyInResponse(connection: CopyConnection): void {
    void this.#send(connection).catch((error: unknown) => {
      // What ended the statement is told by its answer.
      if (this.#over.aborted) return;
      this.#fail(error);
      connection.sendCopyFail('the source could not be read');
    });
  }

  async #send(connection: CopyConnection): Promise<void> {
    const { stream } = connection;
    for await (const chunk of this.#chunks) {
      if (this.#over.aborted) return;
      connection.sendCopyFromChunk(chunk);
      // The rows of a large table do not fit into this process.
      if (stream.writableNeedDrain) await once(stream, 'drain', { signal: this.#over });
    }
    connection.endCopyFrom();
  }
}

/**
 * Writes rows into a table, in the text form of COPY.
 *
 * @throws what the reading of the rows threw, or what the server answered.
 */
export async function copyIn(
  client: pg.Client,
  statement: string,
  chunks: AsyncIterable<Buffer>,
): Promise<void> {
  const over = new AbortController();
  let fault: unknown;
  await new Promise<void>((resolve, reject) => {
    const fail = (error: unknown) => {
      fault = error;
    };
    const answered: Answered = (error) => {
      over.abort();
      if (error) reject(fault ?? error);
      else resolve();
    };
    client.query(new CopyIn(statement, chunks, over.signal, fail, answered));
  });
}
