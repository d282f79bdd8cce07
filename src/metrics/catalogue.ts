import type { Aggregator } from 'prom-client';

/** A metric: what it measures, and its labels with what their values are. */
export interface MetricDefinition {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  /** Each label with its meaning. None has an unbounded set of values. */
  readonly labels?: Readonly<Record<string, string>>;
  /** How the values of several processes behind one port become one; by default they are added. */
  readonly aggregator?: Aggregator;
  /** The upper bounds of a histogram's buckets. */
  readonly buckets?: readonly number[];
}

// What every process reads from the database is the same for all of them.
const ofAllNodes = { aggregator: 'max' } as const;

/** Every metric that Signet counts, by its name. `GET /metrics` has those of Node beside them. */
export const catalogue = {
  signet_build_info: {
    type: 'gauge',
    help: 'Always 1; its label says which version of Signet runs.',
    labels: { version: 'the version of Signet' },
    aggregator: 'first',
  },
  signet_http_request_duration_seconds: {
    type: 'histogram',
    help: 'Time from a request to the end of its response, in seconds.',
    labels: {
      method: 'the HTTP method',
      route: 'the route, such as `/api/users/:id`; `none` where there is none',
      status: 'the HTTP status of the response',
    },
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  },
  signet_requests_refused_total: {
    type: 'counter',
    help: 'Requests refused because the process had too much to do.',
    labels: { kind: '`token`, `request` or `export`' },
  },
  signet_requests_waiting: {
    type: 'gauge',
    help: 'Requests that wait for their turn in this process.',
    labels: { kind: '`token`, `request`, `export`, `connection` or `background`' },
  },
  signet_workers: {
    type: 'gauge',
    help: 'Worker processes, where `WORKERS` is more than 1.',
    labels: { state: '`ready`, or `starting` if it does not answer requests yet' },
  },
  signet_operations_total: {
    type: 'counter',
    help: 'Queries, mutations and subscriptions, over GraphQL, REST and WebSockets: one for each root field. Dry runs do not count.',
    labels: {
      operation: 'the name of the root field, such as `createUser`',
      outcome:
        '`done`; `refused`: declined with an error of the contract; `failed`: a fault, or the database did not answer',
    },
  },
  signet_mutations_total: {
    type: 'counter',
    help: 'Mutations of the management API. Dry runs do not count.',
    labels: { outcome: '`done`, `refused` or `failed`' },
  },
  signet_token_requests_total: {
    type: 'counter',
    help: 'Requests to the token endpoint.',
    labels: {
      grant: 'the `grant_type`; `unknown` where there is no such grant',
      outcome: '`granted`, or the `error` of the answer',
    },
  },
  signet_exchange_refusals_total: {
    type: 'counter',
    help: 'Token exchanges that were refused.',
    labels: {
      rule: 'the rule that the exchange broke, an `ExchangeRule`; `SERVICE` where the service could not answer',
    },
  },
  signet_sign_ins_total: {
    type: 'counter',
    help: 'Sign-ins of people, and failed attempts at one. A sign-in that is part of a registration does not count.',
    labels: {
      outcome:
        '`succeeded`, or why an attempt failed: `credential`, `factor`, `locked`, `suspended` or `provider`',
    },
  },
  signet_hash_queue_waiting: {
    type: 'gauge',
    help: 'Passwords that wait to be hashed or checked in this process.',
    labels: { queue: '`own`, or `imported` for digests of other systems' },
  },
  signet_webhook_deliveries_due: {
    type: 'gauge',
    help: 'Deliveries that are due and not yet posted, over all nodes.',
    ...ofAllNodes,
  },
  signet_webhook_deliveries_oldest_seconds: {
    type: 'gauge',
    help: 'How long the delivery that waits longest has been due, in seconds, over all nodes; 0 if none is due.',
    ...ofAllNodes,
  },
  signet_webhook_deliveries_in_flight: {
    type: 'gauge',
    help: 'Deliveries that this process is posting.',
  },
  signet_webhook_attempts_total: {
    type: 'counter',
    help: 'Attempts to deliver.',
    labels: {
      outcome:
        '`succeeded`, or why it failed: `status` (of the answer), `redirect`, `timeout`, `connection`, `certificate`, `address` (a private one) or `preparation` (of the message)',
    },
  },
  signet_webhook_attempt_duration_seconds: {
    type: 'histogram',
    help: 'Time from an attempt to deliver to its answer or its failure, in seconds.',
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30],
  },
  signet_messages_due: {
    type: 'gauge',
    help: 'Messages that are due and not yet sent, over all nodes.',
    labels: { channel: '`EMAIL` or `SMS`' },
    ...ofAllNodes,
  },
  signet_messages_oldest_seconds: {
    type: 'gauge',
    help: 'How long the message that waits longest has been due, in seconds, over all nodes; 0 if none is due.',
    labels: { channel: '`EMAIL` or `SMS`' },
    ...ofAllNodes,
  },
  signet_message_attempts_total: {
    type: 'counter',
    help: 'Attempts to send a message.',
    labels: {
      channel: '`EMAIL` or `SMS`',
      outcome: '`sent`, `refused` (it will never be accepted), `failed` or `expired`',
    },
  },
  signet_event_log_lag_seconds: {
    type: 'gauge',
    help: 'Age of the oldest committed event that this process has not handed out yet, in seconds.',
    aggregator: 'max',
  },
  signet_event_log_read_total: {
    type: 'counter',
    help: 'Events read from the log by this process.',
  },
  signet_sink_lag_seconds: {
    type: 'gauge',
    help: 'Age of the oldest event that the sink has not taken, in seconds; 0 in processes that do not hand events on. Only with EVENT_SINK_URL.',
    aggregator: 'max',
  },
  signet_sink_published_total: {
    type: 'counter',
    help: 'Events that the sink has taken from this process. Only with EVENT_SINK_URL.',
  },
  signet_sink_refusals_total: {
    type: 'counter',
    help: 'Attempts to hand over an event that the sink refused. Only with EVENT_SINK_URL.',
    labels: {
      reason: '`too_large`, `full`, `no_stream` (nothing takes the subject) or `other`',
    },
  },
  signet_sink_put_aside_total: {
    type: 'counter',
    help: 'Events that were too large for the sink and were not handed over. Only with EVENT_SINK_URL.',
  },
  signet_connections: {
    type: 'gauge',
    help: 'WebSockets and streams of server-sent events that are open in this process.',
  },
  signet_subscribers: {
    type: 'gauge',
    help: 'Subscriptions to the event log that are open in this process.',
  },
  signet_subscriber_groups: {
    type: 'gauge',
    help: 'Sets of subscribers that share one execution.',
  },
  signet_dropped_subscribers_total: {
    type: 'counter',
    help: 'Subscriptions that were ended because their reader fell behind.',
  },
  signet_database_pool_connections: {
    type: 'gauge',
    help: 'Connections to PostgreSQL of this process, and work that waits for one. On the embedded database there is no pool.',
    labels: {
      pool: '`management` or `tokens`; `replica_1` and so on: those of `DATABASE_REPLICA_URLS`',
      state: '`in_use`, `idle`; `waiting`: work for which no connection is free',
    },
  },
  signet_replicas: {
    type: 'gauge',
    help: 'Replicas of `DATABASE_REPLICA_URLS`, as the process sees them.',
    labels: { state: '`in_use`; `left_out`: it lags, or does not answer' },
    ...ofAllNodes,
  },
  signet_clock_offset_seconds: {
    type: 'gauge',
    help: 'By how much the clock of this machine is ahead of the database’s, in seconds; negative if it is behind.',
    aggregator: 'average',
  },
  signet_replica_lag_seconds: {
    type: 'gauge',
    help: 'Age of what a replica shows, in seconds: the time since it was known to have all that the primary had.',
    labels: { replica: 'its place in `DATABASE_REPLICA_URLS`, from 1' },
    ...ofAllNodes,
  },
  signet_reads_total: {
    type: 'counter',
    help: 'Queries over HTTP, by the database that they read; only with `DATABASE_REPLICA_URLS`.',
    labels: {
      place:
        '`replica`; `primary`: they read what only the primary knows, or no replica is near enough',
    },
  },
} as const satisfies Readonly<Record<string, MetricDefinition>>;

/** The catalogue. */
export type Catalogue = typeof catalogue;
