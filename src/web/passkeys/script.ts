import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import type { Services } from '../../services.ts';
import type { PageScript } from '../page.ts';

const path = '/sign-in/passkeys.js';
const source = readFileSync(new URL('./browser.js', import.meta.url));
const version = createHash('sha256').update(source).digest('base64url').slice(0, 12);

/**
 * The script with which a page uses passkeys.
 *
 * @param action The URL of the page's form, which the script asks for options.
 */
export const passkeyScript = (
  { baseUrl }: Pick<Services, 'baseUrl'>,
  action: string,
): PageScript => ({ src: `${baseUrl}${path}?v=${version}`, connect: action });

/** Serves the script. During an upgrade another node may have another version, so nobody keeps it for long. */
export function mountPasskeyScript(http: FastifyInstance): void {
  http.get(path, (_request, reply) =>
    reply
      .headers({
        'content-type': 'text/javascript; charset=utf-8',
        'cache-control': 'public, max-age=3600',
        'x-content-type-options': 'nosniff',
      })
      .send(source),
  );
}
