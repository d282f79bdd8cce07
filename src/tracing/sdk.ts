import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Context,
  type ContextManager,
  context,
  type DiagLogFunction,
  DiagLogLevel,
  diag,
  ROOT_CONTEXT,
} from '@opentelemetry/api';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  defaultResource,
  detectResources,
  envDetector,
  hostDetector,
  resourceFromAttributes,
  serviceInstanceIdDetector,
} from '@opentelemetry/resources';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  RandomIdGenerator,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { version } from '../metrics/version.ts';
import { producerOf } from './metric-producer.ts';
import type { TelemetrySettings } from './settings.ts';
import { type Recorder, recordWith } from './tracing.ts';

/** What sends traces and metrics over OTLP. */
export interface Telemetry {
  /** Sends the metrics of a registry from now on. */
  sendMetrics(registry: Registry): void;
  /** Sends what is left, and stops. */
  stop(): Promise<void>;
}

const name = 'signet';
/** How long a stop waits for what is still to be sent. */
const lastSendMs = 5_000;

/** The current span follows the work, over every `await`. */
class FollowingContext implements ContextManager {
  readonly #contexts = new AsyncLocalStorage<Context>();

  active(): Context {
    return this.#contexts.getStore() ?? ROOT_CONTEXT;
  }

  with<A extends unknown[], F extends (...args: A) => ReturnType<F>>(
    here: Context,
    work: F,
    self?: ThisParameterType<F>,
    ...args: A
  ): ReturnType<F> {
    return this.#contexts.run(here, () => work.apply(self, args));
  }

  bind<T>(here: Context, target: T): T {
    if (typeof target !== 'function') return target;
    // It takes and returns what the function does.
    return ((...args: unknown[]) => this.#contexts.run(here, () => target(...args))) as T;
  }

  enable(): this {
    return this;
  }

  disable(): this {
    this.#contexts.disable();
    return this;
  }
}

/** Gives a span without a parent the trace that it belongs to. */
class GivenIds extends RandomIdGenerator {
  given: string | undefined;

  constructor() {
    super();
    // The library's methods are properties of the instance.
    const random = this.generateTraceId;
    this.generateTraceId = () => this.given ?? random();
  }
}

function samplerOf({
  OTEL_TRACES_SAMPLER: sampler,
  OTEL_TRACES_SAMPLER_ARG: ratio,
}: TelemetrySettings): Sampler {
  const root = sampler.endsWith('always_on')
    ? new AlwaysOnSampler()
    : sampler.endsWith('always_off')
      ? new AlwaysOffSampler()
      : new TraceIdRatioBasedSampler(ratio);
  return sampler.startsWith('parentbased') ? new ParentBasedSampler({ root }) : root;
}

/** Starts to send over OTLP. */
export function startSdk(settings: TelemetrySettings, log: Logger): Telemetry {
  const told = (text: string): ReturnType<DiagLogFunction> =>
    log.warn({ reason: text.slice(0, 500) }, 'OpenTelemetry has a fault');
  const ignored = () => undefined;
  const logger = { error: told, warn: told, info: ignored, debug: ignored, verbose: ignored };
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  const resource = defaultResource()
    .merge(resourceFromAttributes({ 'service.name': name, 'service.version': version }))
    .merge(detectResources({ detectors: [hostDetector, serviceInstanceIdDetector, envDetector] }));
  const stops: (() => Promise<void>)[] = [];

  if (settings.OTEL_TRACES_EXPORTER === 'otlp') {
    context.setGlobalContextManager(new FollowingContext());
    const ids = new GivenIds();
    const provider = new TracerProvider({
      resource,
      idGenerator: ids,
      sampler: samplerOf(settings),
      spanProcessors: [
        new BatchSpanProcessor({
          exporter: new OTLPTraceExporter(),
          scheduledDelayMillis: settings.OTEL_BSP_SCHEDULE_DELAY,
          exportTimeoutMillis: settings.OTEL_BSP_EXPORT_TIMEOUT,
          maxQueueSize: settings.OTEL_BSP_MAX_QUEUE_SIZE,
          maxExportBatchSize: settings.OTEL_BSP_MAX_EXPORT_BATCH_SIZE,
        }),
      ],
    });
    const tracer = provider.getTracer(name, version);
    const beginIn: Recorder['beginIn'] = (traceId, spanName, options) => {
      ids.given = traceId;
      try {
        return tracer.startSpan(spanName, { ...options, root: true });
      } finally {
        ids.given = undefined;
      }
    };
    recordWith({ tracer, beginIn });
    stops.push(() => {
      recordWith(undefined);
      return provider.shutdown();
    });
  }

  return {
    sendMetrics(registry) {
      if (settings.OTEL_METRICS_EXPORTER !== 'otlp') return;
      const reader = new PeriodicExportingMetricReader({
        exporter: new OTLPMetricExporter(),
        metricProducers: [producerOf(registry)],
        exportIntervalMillis: settings.OTEL_METRIC_EXPORT_INTERVAL,
        exportTimeoutMillis: Math.min(
          settings.OTEL_METRIC_EXPORT_TIMEOUT,
          settings.OTEL_METRIC_EXPORT_INTERVAL,
        ),
      });
      const provider = new MeterProvider({ resource, readers: [reader] });
      stops.push(() => provider.shutdown());
    },
    async stop() {
      const sent = Promise.allSettled(stops.map((stop) => stop()));
      const late = new Promise((resolve) => setTimeout(resolve, lastSendMs).unref());
      await Promise.race([sent, late]);
    },
  };
}
