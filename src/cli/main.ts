import { ConfigurationError } from '../config.ts';
import { Refusal, StartError } from '../errors.ts';
import { version } from '../metrics/version.ts';
import { type Command, CommandError, type Terminal, UsageError } from './command.ts';

/** Each command is loaded when it is asked for: what one needs is no cost to the others. */
const commands: Readonly<Record<string, { summary: string; load(): Promise<Command> }>> = {
  'create-admin': {
    summary: 'Bring an administrator back, or make one.',
    load: async () => (await import('./create-admin.ts')).createAdmin,
  },
  doctor: {
    summary: 'Reach what the configuration names, and say what is wrong.',
    load: async () => (await import('./doctor/doctor.ts')).doctor,
  },
  'move-to-postgresql': {
    summary: 'Copy the embedded database to a PostgreSQL.',
    load: async () => (await import('./move/command.ts')).moveToPostgresql,
  },
  export: {
    summary: 'Print the configuration of a service as one document.',
    load: async () => (await import('./configuration/commands.ts')).exportConfiguration,
  },
  plan: {
    summary: 'Say what a document would change.',
    load: async () => (await import('./configuration/commands.ts')).plan,
  },
  diff: {
    summary: 'Show what a document would change as a unified diff.',
    load: async () => (await import('./configuration/commands.ts')).diff,
  },
  import: {
    summary: 'Make a document of an export of Auth0, Keycloak or Logto.',
    load: async () => (await import('./import/command.ts')).importExport,
  },
  apply: {
    summary: 'Make a service what a document says.',
    load: async () => (await import('./configuration/commands.ts')).apply,
  },
};

const usage = (name: string, { parameters }: Command) => `usage: signet ${name} ${parameters}`;

function overview(): string {
  const width = Math.max(...Object.keys(commands).map((name) => name.length));
  const lines = Object.entries(commands).map(
    ([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`,
  );
  return [
    'usage: signet <command> [parameters]',
    '',
    'Commands:',
    ...lines,
    '',
    '`signet <command> --help` says what a command takes, reads and changes.',
    '',
  ].join('\n');
}

/** Runs the command that these parameters name, and returns its exit code. */
async function run(parameters: readonly string[], terminal: Terminal): Promise<number> {
  const [name, ...rest] = parameters;
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    terminal.stdout.write(overview());
    return name === undefined ? 1 : 0;
  }
  if (name === '--version') {
    terminal.stdout.write(`${version}\n`);
    return 0;
  }
  const entry = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!entry) {
    terminal.stderr.write(`signet: there is no command '${name}'\n\n${overview()}`);
    return 1;
  }
  const command = await entry.load();
  const beforeTerminator = rest.slice(0, rest.includes('--') ? rest.indexOf('--') : undefined);
  if (beforeTerminator.some((parameter) => parameter === '--help' || parameter === '-h')) {
    terminal.stdout.write(`${usage(name, command)}\n\n${command.help.trim()}\n`);
    return 0;
  }
  try {
    return await command.run(rest, terminal);
  } catch (error) {
    if (error instanceof UsageError) {
      terminal.stderr.write(`signet ${name}: ${error.message}\n${usage(name, command)}\n`);
    } else {
      const isExpected = [CommandError, ConfigurationError, StartError, Refusal].some(
        (kind) => error instanceof kind,
      );
      const told = isExpected ? (error as Error).message : ((error as Error).stack ?? error);
      terminal.stderr.write(`signet ${name}: ${told}\n`);
    }
    return 1;
  }
}

// Not `process.exit`, which would cut off what is still being written into a pipe.
process.exitCode = await run(process.argv.slice(2), {
  environment: process.env,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
});
