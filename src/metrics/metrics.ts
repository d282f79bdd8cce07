import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { type Catalogue, catalogue, type MetricDefinition } from './catalogue.ts';

type OfType<Type> = {
  [Name in keyof Catalogue]: Catalogue[Name] extends { readonly type: Type } ? Name : never;
}[keyof Catalogue];
type Labels<Name extends keyof Catalogue> = Catalogue[Name] extends {
  readonly labels: infer Meanings;
}
  ? keyof Meanings & string
  : never;

/** The name of a counter of the catalogue. */
export type CounterName = OfType<'counter'>;

function optionsOf<Name extends keyof Catalogue>(name: Name, registry: Registry) {
  const { help, labels = {}, aggregator }: MetricDefinition = catalogue[name];
  return {
    name,
    help,
    labelNames: Object.keys(labels) as Labels<Name>[],
    registers: [registry],
    ...(aggregator && { aggregator }),
  };
}

/** A counter of the catalogue; all who ask a registry for it get the same. */
export const counterOf = <Name extends CounterName>(
  registry: Registry,
  name: Name,
): Counter<Labels<Name>> =>
  (registry.getSingleMetric(name) as Counter<Labels<Name>> | undefined) ??
  new Counter<Labels<Name>>(optionsOf(name, registry));

/**
 * Registers a gauge of the catalogue.
 *
 * @param measure Sets it, whenever somebody asks. What cannot be measured now, because the database does not answer, has
 *   no value: the other metrics are shown all the same.
 */
export function addGauge<Name extends OfType<'gauge'>>(
  registry: Registry,
  name: Name,
  measure: (gauge: Gauge<Labels<Name>>) => void | Promise<void>,
): void {
  const options = optionsOf(name, registry);
  const gauge: Gauge<Labels<Name>> = new Gauge({
    ...options,
    async collect() {
      gauge.reset();
      try {
        await measure(gauge);
      } catch {
        if (options.labelNames.length > 0) gauge.reset();
        else gauge.set(Number.NaN);
      }
    },
  });
}

/** A histogram of the catalogue; all who ask a registry for it get the same. */
export const histogramOf = <Name extends OfType<'histogram'>>(
  registry: Registry,
  name: Name,
): Histogram<Labels<Name>> =>
  (registry.getSingleMetric(name) as Histogram<Labels<Name>> | undefined) ??
  new Histogram<Labels<Name>>({
    ...optionsOf(name, registry),
    buckets: [...catalogue[name].buckets],
  });
