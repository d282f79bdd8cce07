import { type Config, ConfigurationError, readConfig } from '../../config.ts';
import { readTelemetry, type TelemetrySettings } from '../../tracing/settings.ts';
import type { Findings } from './finding.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const check = 'configuration';

/** Reads the configuration; undefined if it has faults. */
export function checkConfiguration(findings: Findings, env: Environment): Config | undefined {
  let config: Config;
  try {
    config = readConfig(env);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    for (const fault of error.message.split('; ')) {
      findings.fault(check, `${fault}.`, 'Correct the variable: README.md has them all.');
    }
    return undefined;
  }
  findings.ok(check, 'Every variable is sound.');
  const { baseUrl, allowPrivateWebhooks, trustProxy } = config;
  const isPublic = baseUrl !== undefined && !isOfThisMachine(new URL(baseUrl).hostname);
  if (isPublic && baseUrl.startsWith('http:')) {
    findings.warn(
      check,
      'BASE_URL is not https: tokens, passwords and cookies cross the network in the clear.',
      'Put a proxy with TLS in front, and give its URL.',
    );
  }
  if (baseUrl?.startsWith('https:') && trustProxy === false) {
    findings.warn(
      check,
      'BASE_URL is https, so a proxy is in front, and TRUST_PROXY is false: every client seems to have the proxy’s address.',
      'Set TRUST_PROXY to the number of proxies, or to their networks.',
    );
  }
  if (isPublic && allowPrivateWebhooks) {
    findings.warn(
      check,
      'ALLOW_PRIVATE_WEBHOOKS lets administrators send requests into your network.',
      'Leave it out, unless all who may set up webhooks may reach everything there.',
    );
  }
  return config;
}

/** Reads OpenTelemetry's variables; undefined if nothing is sent, or they have faults. */
export function checkTelemetry(
  findings: Findings,
  env: Environment,
): TelemetrySettings | undefined {
  try {
    return readTelemetry(env);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    findings.fault(
      'telemetry',
      `${error.message}. So no traces and metrics are sent.`,
      'Correct the variable: docs/metrics.md has them all.',
    );
    return undefined;
  }
}

/** Whether a host is this machine, as it calls itself. */
export const isOfThisMachine = (host: string): boolean =>
  /^(localhost|.*\.localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/.test(host);
