import { type HrTime, ValueType } from '@opentelemetry/api';
import { emptyResource } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type Histogram,
  type MetricData,
  type MetricProducer,
} from '@opentelemetry/sdk-metrics';
import type { MetricObjectWithValues, MetricValue, Registry } from 'prom-client';
import { version } from '../metrics/version.ts';

// The library's type of what it returns leaves out what a histogram has.
type Value = MetricValue<string> & { readonly metricName?: string };
type Metric = Omit<MetricObjectWithValues<Value>, 'type'> & { readonly type: unknown };

const hrTime = (ms: number): HrTime => [Math.trunc(ms / 1_000), Math.trunc((ms % 1_000) * 1e6)];

/** Reads the metrics that `GET /metrics` shows for OpenTelemetry, so that both tell the same. */
export function producerOf(registry: Registry): MetricProducer {
  const startTime = hrTime(performance.timeOrigin);
  return {
    async collect() {
      const endTime = hrTime(performance.timeOrigin + performance.now());
      const metrics = (await registry.getMetricsAsJSON()) as unknown as Metric[];
      const point = <T>(attributes: object, value: T): DataPoint<T> => ({
        startTime,
        endTime,
        attributes: { ...attributes },
        value,
      });
      const data = metrics.flatMap((metric) => dataOf(metric, point));
      return {
        resourceMetrics: {
          resource: emptyResource(),
          scopeMetrics: [{ scope: { name: 'signet', version }, metrics: data }],
        },
        errors: [],
      };
    },
  };
}

type MakePoint = <T>(attributes: object, value: T) => DataPoint<T>;

function dataOf({ name, help, type, values }: Metric, point: MakePoint): MetricData[] {
  const common = {
    descriptor: {
      name,
      description: help,
      unit: /_seconds$/.test(name) ? 's' : '',
      valueType: ValueType.DOUBLE,
    },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  const numbers = () =>
    values
      .filter(({ value }) => !Number.isNaN(value))
      .map(({ labels, value }) => point(labels, value));
  switch (type) {
    case 'counter':
      return [
        { ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints: numbers() },
      ];
    case 'gauge':
      return [{ ...common, dataPointType: DataPointType.GAUGE, dataPoints: numbers() }];
    case 'histogram':
      return [
        {
          ...common,
          dataPointType: DataPointType.HISTOGRAM,
          dataPoints: histograms(name, values).map(({ labels, ...value }) => point(labels, value)),
        },
      ];
    default:
      return [];
  }
}

/** The histograms among the values: Prometheus has a series for each bucket, which holds those below it too. */
function histograms(
  name: string,
  values: readonly Value[],
): (Histogram & { readonly labels: object })[] {
  const series = Map.groupBy(values, ({ labels: { le: _, ...labels } }) => JSON.stringify(labels));
  return [...series.values()].map((of) => {
    const partOf = (part: string) =>
      of.find(({ metricName }) => metricName === `${name}_${part}`)?.value ?? 0;
    const buckets = of
      .filter(({ labels }) => labels['le'] !== undefined)
      .map(({ labels, value }) => ({ bound: Number(String(labels['le']).replace('+', '')), value }))
      .toSorted((a, b) => a.bound - b.bound);
    const { le: _, ...labels } = of[0]?.labels ?? {};
    return {
      labels,
      count: partOf('count'),
      sum: partOf('sum'),
      buckets: {
        boundaries: buckets.map(({ bound }) => bound).filter(Number.isFinite),
        counts: buckets.map(({ value }, i) => value - (buckets[i - 1]?.value ?? 0)),
      },
    };
  });
}
