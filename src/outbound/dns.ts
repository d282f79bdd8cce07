import { lookup, Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';

/** Finds the addresses of a host; rejects if there are none. */
export type ResolveHost = (hostname: string) => Promise<readonly string[]>;

const hostsFile = '/etc/hosts';
const attempts = { timeout: 2_000, tries: 2 };
// The name servers do not know the name, or there are none: the machine may have other sources (search domains, mDNS).
const notHere = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED']);

/**
 * Makes a resolver with the same results, in the same order, as the machine's. It asks name servers over its own
 * sockets. The machine's resolver blocks one of the process's four threads until a server answers, so a few names with
 * a dead server would delay all others.
 *
 * @param options.servers Name servers, as `address:port`; absent: the machine's.
 */
export function createResolver(options: { servers?: readonly string[] } = {}): ResolveHost {
  return async (hostname) => {
    const listed = await readHosts(hostname);
    if (listed.length > 0) return listed;
    // A new one each time, so that it knows the current name servers.
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

/** The addresses of a host in the machine's own list (hosts(5)). */
async function readHosts(hostname: string): Promise<string[]> {
  const wanted = hostname.toLowerCase().replace(/\.$/, '');
  const list = await readFile(hostsFile, 'utf8').catch(() => '');
  return list.split('\n').flatMap((line) => {
    const [address, ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    return address && names.some((name) => name.toLowerCase() === wanted) ? [address] : [];
  });
}
