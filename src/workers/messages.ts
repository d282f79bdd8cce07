import type { Registry } from 'prom-client';

/** The metrics of one process, as data. */
export type Snapshot = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

/** What the primary process says to a worker. */
export type ToWorker =
  | {
      readonly type: 'begin';
      readonly port: number;
      /** Whether it is the service's first: what is shown once is shown by it. */
      readonly isFirst: boolean;
      readonly isBackground: boolean;
    }
  /** With a connection, which is acknowledged. */
  | { readonly type: 'connection'; readonly id: number }
  | { readonly type: 'background' }
  /** To answer that it is not ready any more; and, some time later, to stop. */
  | { readonly type: 'retire' | 'stop' }
  /** Asks for the worker's metrics. */
  | { readonly type: 'metrics'; readonly id: number }
  | { readonly type: 'all-metrics'; readonly id: number; readonly text: string };

/** What a worker says to the primary process. */
export type ToPrimary =
  | { readonly type: 'ready' }
  /** It has taken a connection, and has so many open now. */
  | { readonly type: 'taken'; readonly id: number; readonly open: number }
  | { readonly type: 'open'; readonly open: number }
  | { readonly type: 'metrics'; readonly id: number; readonly metrics: Snapshot }
  /** Asks for the metrics of all workers. */
  | { readonly type: 'all-metrics'; readonly id: number };
