import type { ApplicationOrigin } from '../../generated/graphql.ts';
import { Badge } from '../../kit/controls/badge.tsx';
import { useMessages } from '../../kit/language/language.ts';
import { agentMessages } from './messages.ts';

/** How applications came to be that no administrator has created. */
export const ownOrigins = [
  'METADATA_DOCUMENT',
  'DYNAMIC_REGISTRATION',
] as const satisfies readonly ApplicationOrigin[];

interface Described {
  readonly metadataUrl: string | null;
  readonly redirectUris: readonly string[];
}

/**
 * Where an application comes from: the host of its metadata document. One that registered itself has only what it said:
 * the hosts that people are led to, or a scheme of their device.
 */
export function hostsOf({ metadataUrl, redirectUris }: Described): string[] {
  if (metadataUrl !== null) return [new URL(metadataUrl).host];
  const hosts = redirectUris.map((uri) => {
    const { protocol, hostname } = new URL(uri);
    return /^https?:$/.test(protocol) ? hostname : protocol;
  });
  return [...new Set(hosts)];
}

/** How an application came to be. */
export function Origin({ origin }: { origin: ApplicationOrigin }) {
  const t = useMessages(agentMessages);
  return (
    <Badge tone={origin === 'DYNAMIC_REGISTRATION' ? 'warn' : 'plain'}>{t.origins[origin]}</Badge>
  );
}
