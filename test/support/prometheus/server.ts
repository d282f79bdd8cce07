import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../peers/free-port.ts';
import { eventually } from '../wait.ts';

/** Why no Prometheus can start here; undefined if one can. */
export const prometheusMissing: string | undefined = spawnSync('prometheus', ['--version']).error
  ? 'prometheus is not installed (Debian: apt-get install prometheus)'
  : undefined;

/** A series of an answer: its labels, and its value now. */
interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A running Prometheus. */
export interface Prometheus {
  /**
   * Asks for what a query of the dashboard shows, now. Values that are no numbers are left out.
   *
   * @throws what Prometheus says of a query that it does not understand.
   */
  query(query: string): Promise<readonly Series[]>;
  close(): Promise<void>;
}

const scrapeSeconds = 1;

/** Starts a Prometheus on a free port that scrapes these URLs every second, as its job `signet`. */
export async function startPrometheus(urls: readonly string[]): Promise<Prometheus> {
  const folder = await mkdtemp(join(tmpdir(), 'signet-prometheus-'));
  const url = `http://127.0.0.1:${await freePort()}`;
  const targets = urls.map((one) => new URL(one).host);
  await writeFile(
    join(folder, 'prometheus.yaml'),
    JSON.stringify({
      scrape_configs: [
        {
          job_name: 'signet',
          scrape_interval: `${scrapeSeconds}s`,
          scrape_timeout: `${scrapeSeconds}s`,
          static_configs: [{ targets }],
        },
      ],
    }),
  );
  const child = spawn(
    'prometheus',
    [
      `--config.file=${join(folder, 'prometheus.yaml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=${new URL(url).host}`,
      '--log.level=error',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let log = '';
  child.stderr.on('data', (chunk: Buffer) => {
    log += chunk.toString();
  });
  const ended = once(child, 'close');
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  await eventually(async () => {
    if (hasEnded()) return;
    const { status } = await fetch(`${url}/-/ready`);
    if (status !== 200) throw new Error(`prometheus is not ready: ${status}`);
  }, 50);
  if (hasEnded()) throw new Error(`prometheus ended: ${log}`);
  return {
    async query(query) {
      // As Grafana does for such a job.
      const asked = query
        .replaceAll('$job', 'signet')
        .replaceAll('$instance', '.*')
        .replaceAll('$__rate_interval', `${4 * scrapeSeconds}s`);
      const body = new URLSearchParams({ query: asked });
      const response = await fetch(`${url}/api/v1/query`, { method: 'POST', body });
      const answer = (await response.json()) as {
        status: string;
        error?: string;
        data: {
          result: { metric: Series['metric']; value: Sample }[];
        };
      };
      if (answer.status !== 'success') throw new Error(`${answer.error}: ${asked}`);
      return answer.data.result
        .map(({ metric, value: [, text] }) => ({ metric, value: Number(text) }))
        .filter(({ value }) => Number.isFinite(value));
    },
    async close() {
      child.kill('SIGTERM');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

type Sample = [time: number, value: string];
