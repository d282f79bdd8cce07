import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import { ResultStream } from './result-stream.ts';
import { closeCodes, type Extra } from './socket.ts';

/** Sends the results of one operation at once. Their frames differ from those of other operations only in the id. */
export class FrameStream extends ResultStream {
  readonly #socket: WebSocket;
  readonly #stream: Socket;
  readonly #head: string;
  #unsent = 0;
  #flushes: (() => void)[] = [];

  constructor({ socket, stream }: Extra, id: string) {
    super(() =>
      socket.close(closeCodes.tryAgainLater, 'Fell behind: come again with the last cursor'),
    );
    this.#socket = socket;
    this.#stream = stream;
    this.#head = `{"id":${JSON.stringify(id)},"type":"next","payload":`;
  }

  override push(results: readonly string[]): void {
    this.#unsent += 1;
    // One system call for all: system calls are most of the cost of a delivery.
    this.#stream.cork();
    const sent = () => {
      this.#unsent -= 1;
      if (this.#unsent === 0) for (const resolve of this.#flushes.splice(0)) resolve();
    };
    for (const [index, result] of results.entries()) {
      this.#socket.send(`${this.#head}${result}}`, index === results.length - 1 ? sent : undefined);
    }
    this.#stream.uncork();
  }

  override get backlogBytes(): number {
    return this.#socket.bufferedAmount;
  }

  override async flushed(): Promise<void> {
    if (this.#unsent === 0) return;
    await new Promise<void>((resolve) => this.#flushes.push(resolve));
  }
}
