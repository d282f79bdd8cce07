import { stripVTControlCharacters, styleText } from 'node:util';
import { stringify } from 'yaml';
import { CommandError, type Terminal } from '../command.ts';
import type { DocumentFault, DocumentFile } from './document-file.ts';
import type { Service } from './service.ts';

/** A plan, as the service answers it. */
export interface Plan {
  readonly digest: string;
  readonly changes: readonly {
    readonly action: 'CREATE' | 'UPDATE' | 'DELETE';
    readonly kind: string;
    readonly key: string;
    readonly fields: readonly {
      readonly path: readonly string[];
      readonly before: unknown;
      readonly after: unknown;
    }[];
  }[];
  readonly events: readonly { readonly type: string }[];
  readonly warnings: readonly { readonly message: string }[];
}

type Change = Plan['changes'][number];

const selection = `
  __typename
  ... on Error { message }
  ... on InvalidInputError { issues { path message } }`;
const fields = `plan {
  digest
  changes { action kind key fields { path before after } }
  events { type }
  warnings { message }
}`;

const documents = {
  planConfiguration: `mutation ($input: PlanConfigurationInput!) {
    answer: planConfiguration(input: $input) { ${selection} ... on PlanConfigurationPayload { ${fields} } }
  }`,
  applyConfiguration: `mutation ($input: ApplyConfigurationInput!) {
    answer: applyConfiguration(input: $input) { ${selection} ... on ApplyConfigurationPayload { ${fields} } }
  }`,
};

interface Answer {
  readonly answer: {
    readonly plan?: Plan;
    readonly message?: string;
    readonly issues?: readonly DocumentFault[];
  };
}

/**
 * Plans a document, or applies it.
 *
 * @throws {CommandError} with all faults, each with its line.
 */
export async function ask(
  service: Service,
  mutation: keyof typeof documents,
  file: DocumentFile,
  options: { readonly prune: readonly string[]; readonly expectedDigest?: string },
): Promise<Plan> {
  const input = { document: file.document, ...options };
  const { answer } = await service.ask<Answer>(documents[mutation], { input });
  if (answer.plan) return answer.plan;
  const lines = answer.issues?.map((issue) => file.describe(issue)) ?? [answer.message];
  throw new CommandError(`the document is refused\n${lines.join('\n')}`);
}

const signs = { CREATE: '+', UPDATE: '~', DELETE: '-' } as const;
const colours = { CREATE: 'green', UPDATE: 'yellow', DELETE: 'red' } as const;
const deeds = { CREATE: 'to create', UPDATE: 'to change', DELETE: 'to delete' } as const;

const words = (kind: string) => kind.toLowerCase().replaceAll('_', ' ');
const nameOf = ({ kind, key }: Change) =>
  kind === 'SIGN_IN_EXPERIENCE' ? words(kind) : `${words(kind)} "${shown(key)}"`;

/** A name as it is safe in a terminal: without characters that steer it. */
export const shown = (text: string) => stripVTControlCharacters(text).replaceAll(/\p{Cc}/gu, '�');

const inJson = (value: unknown): string => shown(JSON.stringify(value ?? null));

/** Shows a plan as people read it; in colour on a terminal. */
export function showPlan(
  plan: Plan,
  { stdout, stderr }: Pick<Terminal, 'stdout' | 'stderr'>,
): void {
  const paint = (colour: (typeof colours)[keyof typeof colours], text: string) =>
    styleText(colour, text, { stream: stdout });
  const say = (line: string) => stdout.write(`${line}\n`);
  for (const change of plan.changes) {
    say(paint(colours[change.action], `  ${signs[change.action]} ${nameOf(change)}`));
    for (const { path, before, after } of change.fields) {
      const values =
        change.action === 'CREATE'
          ? inJson(after)
          : change.action === 'DELETE'
            ? inJson(before)
            : `${inJson(before)} -> ${inJson(after)}`;
      say(`      ${shown(path.join('.'))}: ${values}`);
    }
  }
  if (plan.changes.length === 0) say('No changes. The service is as the document wants it.');
  else {
    const actions = Object.keys(deeds) as (keyof typeof deeds)[];
    const counts = actions.map(
      (action) =>
        `${plan.changes.filter((change) => change.action === action).length} ${deeds[action]}`,
    );
    say(`\nPlan: ${counts.join(', ')}.`);
    const types = [...new Set(plan.events.map(({ type }) => type))].sort();
    say(`Events: ${plan.events.length}, of ${types.join(', ')}.`);
  }
  for (const { message } of plan.warnings) stderr.write(`Warning: ${shown(message)}\n`);
}

/** Writes a plan as a unified diff: one hunk a record, with the values that change as YAML. */
export function printDiff({ changes }: Plan, file: string): string {
  if (changes.length === 0) return '';
  let [oldLine, newLine] = [1, 1];
  const hunks = changes.map((change) => {
    const removed = change.action === 'CREATE' ? [] : linesOf(change, 'before');
    const added = change.action === 'DELETE' ? [] : linesOf(change, 'after');
    const at = (line: number, count: number) => `${count === 0 ? line - 1 : line},${count}`;
    const ranges = `-${at(oldLine, removed.length)} +${at(newLine, added.length)}`;
    oldLine += removed.length;
    newLine += added.length;
    return [
      `@@ ${ranges} @@ ${nameOf(change)}`,
      ...removed.map((line) => `-${line}`),
      ...added.map((line) => `+${line}`),
    ].join('\n');
  });
  return [`--- service`, `+++ ${file}`, ...hunks, ''].join('\n');
}

function linesOf(change: Change, side: 'before' | 'after'): string[] {
  const document: Record<string, unknown> = {};
  for (const field of change.fields) {
    const steps = field.path.slice(0, -1);
    let place = document;
    for (const step of steps) {
      place[step] ??= {};
      place = place[step] as Record<string, unknown>;
    }
    place[field.path.at(-1) ?? ''] = field[side];
  }
  const lines = stringify(document, { lineWidth: 0 }).trimEnd().split('\n');
  return change.fields.length === 0 ? [] : lines.map(shown);
}
