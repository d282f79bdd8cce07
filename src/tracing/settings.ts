import { z } from 'zod';
import { ConfigurationError, describeFaults, withoutEmpty } from '../config.ts';

const endpoint = z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }).optional();
const protocol = z.literal('http/protobuf').optional();
const exporter = z.enum(['otlp', 'none'], { error: 'must be otlp or none' }).default('otlp');
const count = (fallback: number) => z.coerce.number().int().min(1).default(fallback);
const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

/**
 * OpenTelemetry's variables that are read here. Its exporters read theirs themselves: headers, certificates, time-outs,
 * compression, and the resource's attributes.
 *
 * @see https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
 */
export const telemetryEnvironment = z.object({
  OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: endpoint,
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: endpoint,
  OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: protocol,
  OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: protocol,
  OTEL_TRACES_EXPORTER: exporter,
  OTEL_METRICS_EXPORTER: exporter,
  OTEL_TRACES_SAMPLER: z.enum(samplers).default('parentbased_always_on'),
  OTEL_TRACES_SAMPLER_ARG: z.coerce.number().min(0).max(1).default(1),
  OTEL_BSP_SCHEDULE_DELAY: count(5_000),
  OTEL_BSP_EXPORT_TIMEOUT: count(30_000),
  OTEL_BSP_MAX_QUEUE_SIZE: count(2_048),
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: count(512),
  OTEL_METRIC_EXPORT_INTERVAL: count(60_000),
  OTEL_METRIC_EXPORT_TIMEOUT: count(30_000),
});

/** How OpenTelemetry is set up. */
export type TelemetrySettings = z.infer<typeof telemetryEnvironment>;

const endpoints = ['', 'TRACES_', 'METRICS_'].map((part) => `OTEL_EXPORTER_OTLP_${part}ENDPOINT`);

/**
 * Reads OpenTelemetry's variables; undefined if nothing is to be sent anywhere.
 *
 * @throws {ConfigurationError} naming every variable at fault.
 */
export function readTelemetry(
  env: Readonly<Record<string, string | undefined>>,
): TelemetrySettings | undefined {
  const given = withoutEmpty(env);
  const isOff = given['OTEL_SDK_DISABLED']?.toLowerCase() === 'true';
  if (isOff || !endpoints.some((name) => given[name] !== undefined)) return undefined;
  const parsed = telemetryEnvironment.safeParse(given);
  if (!parsed.success) throw new ConfigurationError(describeFaults(parsed.error));
  return parsed.data;
}
