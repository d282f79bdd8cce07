import type { Logger } from 'pino';
import { ConfigurationError } from '../config.ts';
import type { Telemetry } from './sdk.ts';
import { readTelemetry, type TelemetrySettings } from './settings.ts';

/**
 * Starts OpenTelemetry, if its variables name where to send to; else nothing of it is loaded. Its faults are told in the
 * log and stop nothing: the service is worth more than what is told of it.
 */
export async function startTelemetry(
  env: Readonly<Record<string, string | undefined>>,
  log: Logger,
): Promise<Telemetry | undefined> {
  let settings: TelemetrySettings | undefined;
  try {
    settings = readTelemetry(env);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    log.warn({ reason: error.message }, 'OpenTelemetry is off');
  }
  return settings && (await import('./sdk.ts')).startSdk(settings, log);
}
