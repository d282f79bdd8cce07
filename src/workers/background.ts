import { jobs as accountJobs } from '../account/purge.ts';
import { jobs as eventJobs } from '../events/purge.ts';
import { startSink } from '../events/sinks/start.ts';
import type { Tail } from '../events/tail.ts';
import { jobs as experienceJobs } from '../experience/purge.ts';
import { jobs as factorJobs } from '../factors/purge.ts';
import { jobs as keptResultJobs } from '../graphql/mutations/once.ts';
import { checkRedirectUris } from '../identity-providers/redirect-uri.ts';
import { jobs as messageJobs } from '../messages/purge.ts';
import { startMessages } from '../messages/start.ts';
import { jobs as oidcJobs } from '../oidc/provider/storage/expiry.ts';
import { jobs as refusalJobs } from '../protection/refusals/report-left-out.ts';
import { type Job, type Jobs, startScheduler } from '../scheduler.ts';
import { schema } from '../schema.ts';
import { startSecretRotation } from '../secret-rotation/start.ts';
import { jobs as statusJobs } from '../service-status/figures.ts';
import type { Services } from '../services.ts';
import { jobs as signingKeyJobs } from '../signing-keys/operations.ts';
import { jobs as subjectTokenJobs } from '../subject-tokens/purge.ts';
import { jobs as sentFormJobs } from '../web/sent-forms/purge.ts';
import { jobs as deliveryJobs } from '../webhooks/delivery/purge.ts';
import { startDeliveries } from '../webhooks/delivery/start.ts';

const jobs: readonly Jobs[] = [
  eventJobs,
  deliveryJobs,
  experienceJobs,
  accountJobs,
  factorJobs,
  keptResultJobs,
  messageJobs,
  subjectTokenJobs,
  statusJobs,
  oidcJobs,
  refusalJobs,
  signingKeyJobs,
  sentFormJobs,
];

// Such a job is due by what its own process did, so every process runs it.
const isOfProcess = ({ isDue }: Job): boolean => isDue !== undefined;

/** The work that no request waits for: one process of a node does it. */
export interface Background {
  /** Does the work from now on. */
  start(): Promise<void>;
  /** Resolves when nothing is under way. */
  stop(): Promise<void>;
}

/** Makes the background work of a process. What concerns the process alone begins at once. */
export function createBackground(services: Services, tail: Tail): Background {
  const [ofProcess = [], ofNode = []] = [true, false].map((wanted) =>
    jobs.flatMap((jobsOf) => jobsOf(services)).filter((job) => isOfProcess(job) === wanted),
  );
  const opened = new AsyncDisposableStack();
  opened.defer(startScheduler(services, ofProcess));
  let starting: Promise<void> | undefined;
  let isStopped = false;

  async function start(): Promise<void> {
    if (isStopped) return;
    opened.defer(await startSink(services, tail));
    opened.defer(startScheduler(services, ofNode));
    opened.defer(await startDeliveries(services, schema, tail));
    opened.defer(startMessages(services));
    opened.defer(startSecretRotation(services));
    opened.defer(checkRedirectUris(services));
  }

  return {
    start() {
      starting ??= start();
      return starting;
    },
    async stop() {
      isStopped = true;
      await starting?.catch(() => undefined);
      await opened.disposeAsync();
    },
  };
}
