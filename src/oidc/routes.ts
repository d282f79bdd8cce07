import type { FastifyInstance } from 'fastify';
import type { Services } from '../auth/context.ts';

/** Mounts everything under `/oidc`. */
export async function registerOidc(_http: FastifyInstance, _services: Services): Promise<void> {}
