import {
  execute,
  type GraphQLInputObjectType,
  type GraphQLSchema,
  isRequiredInputField,
  parse,
  validateInputValue,
} from 'graphql';
import {
  type InputIssue,
  type InputIssueCode,
  InvalidInputError,
  NotAllowedError,
} from '../errors.ts';
import type { GraphQLContext } from '../graphql/context.ts';
import { mutationInputName, mutationPayloadName } from '../graphql/names.ts';
import { type Call, inputTypeOf, type RecordKindName, recordKind, recordKinds } from './kinds.ts';
import { type Step, Unmade } from './step.ts';
import type { Steps } from './steps.ts';

/** Somebody else has changed a record since the configuration was read. */
export class Moved extends Error {}

/**
 * Runs steps through the mutations of the schema, as the caller: with the rules and the rights that each has.
 *
 * @throws {InvalidInputError} with the faults of all steps, each at its path in the document.
 * @throws {NotAllowedError} if a rule forbids a step. {@link Moved} FORBIDDEN if the caller lacks a scope.
 */
export async function runSteps(
  context: GraphQLContext,
  schema: GraphQLSchema,
  { steps, ids }: Pick<Steps, 'steps' | 'ids'>,
): Promise<void> {
  const faults: InputIssue[] = [];
  const forbidden: string[] = [];
  const run = runner({ ...context, once: undefined }, schema);
  for (const step of steps) {
    try {
      const created = step.call && (await run(step, step.call(ids)));
      const id = step.id ?? created;
      if (created !== undefined && step.id === undefined) {
        ids.add(step.kind, step.name, created);
        ids.place(step.path, created);
      }
      if (id !== undefined) {
        for (const call of step.links?.(ids, id) ?? []) await run(step, call);
      }
    } catch (error) {
      if (error instanceof InvalidInputError) faults.push(...error.issues);
      else if (error instanceof NotAllowedError)
        forbidden.push(`${step.path.join('.') || step.name}: ${error.message}`);
      else if (!(error instanceof Unmade)) throw error;
    }
  }
  if (faults.length > 0) throw new InvalidInputError(faults);
  if (forbidden.length > 0) throw new NotAllowedError(forbidden.join(' '));
}

interface Answer {
  readonly __typename: string;
  readonly message?: string;
  readonly issues?: readonly InputIssue[];
  readonly path?: readonly string[];
  readonly record?: { readonly id: string };
}

/** Makes the function that sends one call, and returns the id of the record that it creates. */
const runner =
  (contextValue: GraphQLContext, schema: GraphQLSchema) =>
  async (step: Step, { mutation, input }: Call): Promise<string | undefined> => {
    const at = pathIn(step);
    const faults = faultsOf(input, inputTypeOf(schema, mutation));
    if (faults.length > 0) throw new InvalidInputError(faults.map(at));
    const { data, errors } = await execute({
      schema,
      document: documentOf(mutation, step),
      variableValues: { input },
      contextValue,
    });
    const [error] = errors ?? [];
    if (error) throw error.originalError ?? error;
    const answer = data?.['answer'] as Answer;
    switch (answer.__typename) {
      case mutationPayloadName(mutation):
        return answer.record?.id;
      case 'InvalidInputError':
        throw new InvalidInputError((answer.issues ?? []).map(at));
      case 'ConflictError':
        throw new InvalidInputError([
          at({ path: answer.path ?? [], message: String(answer.message), code: 'NOT_UNIQUE' }),
        ]);
      case 'NotAllowedError':
        throw new NotAllowedError(answer.message);
      default:
        throw new Moved(`${mutation} answered ${answer.__typename}.`);
    }
  };

function documentOf(mutation: string, { kind, id }: Step) {
  const created =
    id === undefined && kind in recordKinds
      ? `... on ${mutationPayloadName(mutation)} { record: ${fieldOf(kind as RecordKindName)} { id } }`
      : '';
  return parse(`mutation ($input: ${mutationInputName(mutation)}!) {
    answer: ${mutation}(input: $input) {
      __typename
      ${created}
      ... on Error { message }
      ... on InvalidInputError { issues { path message code } }
      ... on ConflictError { path }
    }
  }`);
}

/** The field of a payload that holds a record. */
function fieldOf(kind: RecordKindName): string {
  const { type } = recordKind(kind);
  return `${type[0]?.toLowerCase()}${type.slice(1)}`;
}

/** Leads the path of a fault in an input to its place in the document. */
const pathIn =
  ({ kind, path }: Step) =>
  (issue: InputIssue): InputIssue => {
    const [field = '', ...rest] = issue.path;
    const links = kind in recordKinds ? (recordKind(kind as RecordKindName).links ?? {}) : {};
    const [linked = field] = Object.entries(links).find(([, { input }]) => input === field) ?? [];
    return { ...issue, path: [...path, ...(field === '' ? [] : [linked]), ...rest] };
  };

function faultsOf(input: Call['input'], type: GraphQLInputObjectType): InputIssue[] {
  const missing = Object.values(type.getFields())
    .filter((field) => isRequiredInputField(field) && input[field.name] == null)
    .map(({ name }) => fault([name], 'is missing', 'REQUIRED'));
  if (missing.length > 0) return missing;
  const faults: InputIssue[] = [];
  const unknown = Object.keys(input).filter((name) => !(name in type.getFields()));
  if (unknown.length > 0)
    return unknown.map((name) => fault([name], 'There is no such field.', 'UNKNOWN_FIELD'));
  validateInputValue(input, type, ({ message }, path) => {
    faults.push(fault(path.map(String), message, 'INVALID_TYPE'));
  });
  return faults;
}

const fault = (path: readonly string[], message: string, code: InputIssueCode): InputIssue => ({
  path,
  message,
  code,
});
