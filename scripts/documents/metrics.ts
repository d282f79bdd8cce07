import { catalogue, type MetricDefinition } from '../../src/metrics/catalogue.ts';
import { telemetryEnvironment } from '../../src/tracing/settings.ts';
import { code, table } from './markdown.ts';

const labelsOf = ({ labels = {} }: MetricDefinition): string =>
  Object.entries(labels)
    .map(([label, meaning]) => `${code(label)}: ${meaning}`)
    .join('<br>');

/** Every metric, with its labels. */
export const metricsTable = (): string =>
  table(
    ['metric', 'kind', 'what it measures', 'labels'],
    Object.entries<MetricDefinition>(catalogue).map(([name, metric]) => [
      code(name),
      metric.type,
      metric.help,
      labelsOf(metric),
    ]),
  );

type Variable = keyof typeof telemetryEnvironment.shape;

/** The meaning of each variable of OpenTelemetry. The compiler refuses a missing or an unknown one. */
const meanings: Readonly<Record<Variable, string>> = {
  OTEL_EXPORTER_OTLP_ENDPOINT:
    'where to send: `http://collector:4318`; traces go to `/v1/traces` there, metrics to `/v1/metrics`',
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'the whole URL for traces, instead',
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'the whole URL for metrics, instead',
  OTEL_EXPORTER_OTLP_PROTOCOL: '`http/protobuf`; there is no other',
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'the same',
  OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: 'the same',
  OTEL_TRACES_EXPORTER: '`none` sends no traces',
  OTEL_METRICS_EXPORTER: '`none` sends no metrics',
  OTEL_TRACES_SAMPLER:
    'which traces are recorded: `always_on`, `always_off`, `traceidratio`, or one of these behind `parentbased_`: as the caller decided, and by that for the others',
  OTEL_TRACES_SAMPLER_ARG: 'the part of the traces for `traceidratio`, from 0 to 1',
  OTEL_BSP_SCHEDULE_DELAY: 'the time between two sendings of spans, in milliseconds',
  OTEL_BSP_EXPORT_TIMEOUT: 'the longest that a sending may take, in milliseconds',
  OTEL_BSP_MAX_QUEUE_SIZE: 'spans that wait at most; more are dropped',
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: 'spans in a sending',
  OTEL_METRIC_EXPORT_INTERVAL: 'the time between two sendings of metrics, in milliseconds',
  OTEL_METRIC_EXPORT_TIMEOUT: 'the longest that such a sending may take, in milliseconds',
};

/** The variables of OpenTelemetry that are read, with their defaults. */
export function telemetryTable(): string {
  const defaults = telemetryEnvironment.parse({}) as Readonly<Partial<Record<Variable, unknown>>>;
  return table(
    ['variable', 'default', 'meaning'],
    (Object.keys(meanings) as Variable[]).map((name) => [
      code(name),
      defaults[name] === undefined ? '' : code(String(defaults[name])),
      meanings[name],
    ]),
  );
}
