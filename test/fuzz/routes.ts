import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { FastifyInstance } from 'fastify';

/** A route as it was mounted. */
export interface Route {
  readonly method: string;
  readonly url: string;
}

/** Runs a start, and notes every HTTP route that it mounts. */
export async function withRoutes<T>(start: () => Promise<T>): Promise<[T, readonly Route[]]> {
  const routes: Route[] = [];
  const note = (message: unknown) => {
    const { fastify } = message as { fastify: FastifyInstance };
    fastify.addHook('onRoute', ({ method, url }) => {
      for (const one of [method].flat()) routes.push({ method: one, url });
    });
  };
  subscribe('fastify.initialization', note);
  try {
    return [await start(), routes];
  } finally {
    unsubscribe('fastify.initialization', note);
  }
}
