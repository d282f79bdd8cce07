import { createServer, type RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { refuseAll } from '../http/admit.ts';
import { answerWhileStarting } from '../http/listener.ts';

/** How long a client has to send its request, in milliseconds. */
const receiveMs = 5_000;

/** Answers connections in place of the workers. */
export interface StandIn {
  /** Answers one request: that the service starts if there is no worker, that it is overloaded if none takes it. */
  answer(socket: Socket, hasWorkers: boolean): void;
  stop(): void;
}

/** Makes a server that has no address, and answers what it is given. */
export function createStandIn(): StandIn {
  const once =
    (listener: RequestListener): RequestListener =>
    (request, response) => {
      // The next request may find a worker.
      response.shouldKeepAlive = false;
      listener(request, response);
    };
  const make = (listener: RequestListener) => {
    const server = createServer(
      { requestTimeout: receiveMs, headersTimeout: receiveMs, connectionsCheckingInterval: 1_000 },
      once(listener),
    );
    server.setTimeout(receiveMs);
    // It begins to watch for slow requests when it listens.
    server.emit('listening');
    return server;
  };
  const starting = make(answerWhileStarting);
  const overloaded = make((request, response) =>
    request.url === '/healthz'
      ? answerWhileStarting(request, response)
      : refuseAll(request, response),
  );
  return {
    answer(socket, hasWorkers) {
      socket.allowHalfOpen = true;
      (hasWorkers ? overloaded : starting).emit('connection', socket);
      socket.resume();
    },
    stop() {
      for (const server of [starting, overloaded]) {
        server.close();
        server.closeAllConnections();
      }
    },
  };
}
