import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { styleText } from 'node:util';
import type { Config } from '../../config.ts';
import { sqlState } from '../../db/sql.ts';
import { StartError } from '../../errors.ts';
import { version } from '../../metrics/version.ts';
import { defineCommand, type Terminal } from '../command.ts';
import { openDatabase } from '../open-database.ts';
import { checkConfiguration, checkTelemetry } from './configuration.ts';
import { type Contents, checkContents } from './contents.ts';
import { checkDataFolder } from './data-folder.ts';
import { type Finding, Findings } from './finding.ts';
import { checkCollector, checkPublicUrl, checkSink } from './network.ts';
import { checkPostgresql } from './postgresql.ts';

export const doctor = defineCommand({
  parameters: '[--stopped] [--json]',
  help: `
Reads the configuration, reaches what it names, and says what is wrong and what to do. It changes nothing.

  --stopped  the service is not running: leaves out what only a running one can answer
  --json     one object: version, isHealthy, findings with check, state, message and advice

It takes the variables of the service. Ends in 0 if nothing is wrong, in 1 if there is a fault; warnings are none.`,
  options: {
    stopped: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
  async run({ values: { stopped, json } }, { environment, stdout }) {
    const findings = new Findings();
    await examine(findings, environment, stopped);
    const isHealthy = findings.all.every(({ state }) => state !== 'fault');
    if (json) {
      stdout.write(`${JSON.stringify({ version, isHealthy, findings: findings.all }, null, 2)}\n`);
    } else print(findings.all, stdout);
    return isHealthy ? 0 : 1;
  },
});

async function examine(
  findings: Findings,
  environment: Terminal['environment'],
  isStopped: boolean,
): Promise<void> {
  const telemetry = checkTelemetry(findings, environment);
  const config = checkConfiguration(findings, environment);
  if (!config) return;
  const contents = await checkDatabase(findings, config);
  if (config.eventSinkUrl) await checkSink(findings, config.eventSinkUrl);
  if (telemetry) await checkCollector(findings, telemetry);
  if (isStopped) findings.skip('public URL', 'The service is not running.');
  else {
    const baseUrl = config.baseUrl ?? `http://localhost:${config.port}`;
    await checkPublicUrl(findings, baseUrl, contents?.keyIds);
  }
}

async function checkDatabase(findings: Findings, config: Config): Promise<Contents | undefined> {
  const { database: settings } = config;
  const isUsable =
    settings.kind === 'postgresql'
      ? await checkPostgresql(findings, settings, config.replicas?.urls)
      : await checkDataFolder(findings, settings.dataDir);
  if (!isUsable) return undefined;
  await using opened = new AsyncDisposableStack();
  try {
    const database = await openDatabase(config, opened, () => undefined);
    const secret = config.secret ?? (await secretIn(settings));
    return await checkContents(findings, config, database, secret);
  } catch (error) {
    if (!(error instanceof StartError)) {
      if (sqlState(error) !== insufficientPrivilege) throw error;
      findings.skip('contents', 'The role may not read them.');
      return undefined;
    }
    // What keeps PostgreSQL from being opened is a fault above; the folder is open in one process at a time.
    findings.skip('contents', `Nobody can look into the database now: ${error.message}.`);
    return undefined;
  }
}

const insufficientPrivilege = '42501';

const secretIn = async (settings: Config['database']): Promise<string | undefined> =>
  settings.kind === 'embedded'
    ? readFile(join(settings.dataDir, 'secret'), 'utf8').then(
        (text) => text.trim(),
        () => undefined,
      )
    : undefined;

const looks = {
  ok: ['ok', 'green'],
  warning: ['WARNING', 'yellow'],
  fault: ['FAULT', 'red'],
  skipped: ['skipped', 'gray'],
} as const;

function print(findings: readonly Finding[], stream: Terminal['stdout']): void {
  const width = Math.max(...findings.map(({ check }) => check.length));
  const lines = findings.flatMap(({ check, state, message, advice }) => {
    const [word, color] = looks[state];
    // No colour where the stream is no terminal, or NO_COLOR is set.
    const told = styleText(color, word.padEnd(7), { stream });
    const line = `${told}  ${check.padEnd(width)}  ${message}`;
    return advice === undefined ? [line] : [line, `${' '.repeat(9 + width)}  → ${advice}`];
  });
  const faults = findings.filter(({ state }) => state === 'fault').length;
  const end =
    faults === 0 ? 'Nothing is wrong.' : `${faults} ${faults === 1 ? 'fault' : 'faults'}.`;
  stream.write(`${lines.join('\n')}\n\n${end}\n`);
}
