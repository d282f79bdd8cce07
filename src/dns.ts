import { lookup, Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';

/** Finds the addresses of a host; it fails where there is none. */
export type ResolveHost = (hostname: string) => Promise<readonly string[]>;

const hostsFile = '/etc/hosts';
const attempts = { timeout: 2_000, tries: 2 };
// The name servers know nothing of it, or there are none: the machine may have other ways (search domains, mDNS).
const notHere = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED']);

/**
 * Makes a resolver that finds what the machine's finds, in the same order, but asks name servers over sockets of its
 * own. The machine's holds a thread until a server answers, of the four that the process has: a few names whose server
 * is dead would be in the way of all others.
 *
 * @param options.servers Name servers, as `address:port`; absent, the machine's.
 */
export function createResolver(options: { servers?: readonly string[] } = {}): ResolveHost {
  return async (hostname) => {
    const listed = await readHosts(hostname);
    if (listed.length > 0) return listed;
    // A new one each time, so that it knows the name servers of now.
    const resolver = new Resolver(attempts);
    if (options.servers) resolver.setServers(options.servers);
    const answers = await Promise.allSettled([
      resolver.resolve4(hostname),
      resolver.resolve6(hostname),
    ]);
    const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (found.length > 0) return found;
    for (const answer of answers) {
      if (answer.status === 'rejected' && !notHere.has(answer.reason.code)) throw answer.reason;
    }
    return (await lookup(hostname, { all: true })).map(({ address }) => address);
  };
}

/** What the machine's own list has of a host (hosts(5)). */
async function readHosts(hostname: string): Promise<string[]> {
  const wanted = hostname.toLowerCase().replace(/\.$/, '');
  const list = await readFile(hostsFile, 'utf8').catch(() => '');
  return list.split('\n').flatMap((line) => {
    const [address, ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    return address && names.some((name) => name.toLowerCase() === wanted) ? [address] : [];
  });
}
