import type { FastifyInstance } from 'fastify';
import type { Services } from '../auth/context.ts';
import { UnsupportedGrantType } from './oauth-errors.ts';
import { registerTokenEndpoint } from './token-endpoint.ts';

/** Mounts everything under `/oidc`. */
export async function registerOidc(http: FastifyInstance, services: Services): Promise<void> {
  registerTokenEndpoint(http, services, {
    delegate: async () => {
      throw new UnsupportedGrantType();
    },
  });
}
