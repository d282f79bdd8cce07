import { createInterface } from 'node:readline/promises';
import { CommandError, defineCommand, type Terminal, UsageError } from '../command.ts';
import { readDocumentFile } from './document-file.ts';
import { ask, type Plan, printDiff, showPlan } from './plan.ts';
import { connect, serviceHelp } from './service.ts';

const prune = { type: 'string', multiple: true } as const;
const json = { type: 'boolean' } as const;

const pruneHelp = `--prune <kind>  also delete records of this kind that FILE leaves out; again for another: resource, scope, role,
                application, trusted-issuer, cross-app-connection, organization-role, organization-scope, webhook,
                identity-provider, message-sender, sign-in-experience`;
const fileHelp = `FILE is YAML or JSON, - for standard input. Each { env: NAME } in it stands for the value of that variable; without
one, the service keeps the secret that it has.`;

const kindsOf = (given: readonly string[] = []): string[] =>
  given.map((kind) => kind.toUpperCase().replaceAll('-', '_'));

const print = ({ stdout }: Terminal, value: unknown): void => {
  stdout.write(`${JSON.stringify(value, undefined, 2)}\n`);
};

/** Reads and plans the file that a command names. */
async function planOf(file: string, kinds: readonly string[] | undefined, terminal: Terminal) {
  const document = await readDocumentFile(file, terminal);
  const service = await connect(terminal);
  const options = { prune: kindsOf(kinds) };
  const plan = await ask(service, 'planConfiguration', document, options);
  return { document, service, options, plan };
}

const isNothing = ({ changes }: Plan) => changes.length === 0;

export const exportConfiguration = defineCommand({
  parameters: '[--json]',
  help: `
Prints the configuration of a service as one document, without secrets.

  --json  as JSON instead of YAML

${serviceHelp}`,
  options: { json },
  async run({ values }, terminal) {
    const service = await connect(terminal);
    const { configuration } = await service.ask<{ configuration: { document: string } }>(
      `query ($format: ConfigurationFormat!) { configuration { document(format: $format) } }`,
      { format: values.json ? 'JSON' : 'YAML' },
    );
    terminal.stdout.write(configuration.document);
    return 0;
  },
});

export const plan = defineCommand({
  parameters: 'FILE [--prune <kind>] [--json]',
  help: `
Says what a document would change, and changes nothing. Exit code 0: nothing; 2: there are changes; 1: a fault.

  ${pruneHelp}
  --json          the plan as JSON

${fileHelp}

${serviceHelp}`,
  options: { prune, json },
  positionals: ['FILE'],
  async run({ values, positionals: [file = ''] }, terminal) {
    const { plan } = await planOf(file, values.prune, terminal);
    if (values.json) print(terminal, plan);
    else showPlan(plan, terminal);
    return isNothing(plan) ? 0 : 2;
  },
});

export const diff = defineCommand({
  parameters: 'FILE [--prune <kind>] [--json]',
  help: `
Shows what a document would change as a unified diff, and changes nothing. Exit codes as of \`plan\`.

  ${pruneHelp}
  --json          the plan as JSON

${fileHelp}

${serviceHelp}`,
  options: { prune, json },
  positionals: ['FILE'],
  async run({ values, positionals: [file = ''] }, terminal) {
    const { plan } = await planOf(file, values.prune, terminal);
    if (values.json) print(terminal, plan);
    else terminal.stdout.write(printDiff(plan, file));
    return isNothing(plan) ? 0 : 2;
  },
});

export const apply = defineCommand({
  parameters: 'FILE [--yes] [--prune <kind>] [--json]',
  help: `
Makes a service what a document says, whole or not at all, after it has shown the plan and asked. If the service has
changed meanwhile, nothing is written.

  --yes           without asking; needed where nobody can be asked
  ${pruneHelp}
  --json          what was changed as JSON

${fileHelp}

${serviceHelp}`,
  options: { yes: { type: 'boolean' }, prune, json },
  positionals: ['FILE'],
  async run({ values, positionals: [file = ''] }, terminal) {
    if (file === '-' && !values.yes) throw new UsageError('- needs --yes: nobody can be asked');
    const { document, service, options, plan } = await planOf(file, values.prune, terminal);
    if (!values.json) showPlan(plan, terminal);
    if (isNothing(plan)) {
      if (values.json) print(terminal, plan);
      return 0;
    }
    if (!values.yes) await agree(terminal);
    const expected = { ...options, expectedDigest: plan.digest };
    const applied = await ask(service, 'applyConfiguration', document, expected);
    if (values.json) print(terminal, applied);
    else terminal.stdout.write('Applied.\n');
    return 0;
  },
});

/** @throws {CommandError} unless a person says yes. */
async function agree({ stdin, stderr }: Terminal): Promise<void> {
  if (!stdin.isTTY) {
    throw new CommandError('nothing is written: nobody can be asked here. Give --yes to apply it.');
  }
  const lines = createInterface({ input: stdin, output: stderr });
  const answer = await lines.question('\nApply it? Only "yes" will do: ');
  lines.close();
  if (answer !== 'yes') throw new CommandError('nothing is written');
}
