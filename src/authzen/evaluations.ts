import { evaluate } from '../permissions/granted.ts';
import { targetOf } from '../permissions/target.ts';
import type { Services } from '../services.ts';
import {
  apiType,
  type EvaluationBody,
  evaluationBody,
  evaluationsBody,
  faultsOf,
  kindOfType,
  readBody,
} from './requests.ts';

/** An answer to one question (§5.5). It says no more: see docs/permissions.md. */
interface Decision {
  readonly decision: boolean;
  /** Why a question could not be read. */
  readonly context?: object;
}

type Readers = Pick<Services, 'database' | 'clock'>;

/** Answers one question. What does not exist may do nothing. */
async function decide(
  readers: Readers,
  { subject, action, resource, context }: EvaluationBody,
): Promise<Decision> {
  const kind = kindOfType(subject.type);
  if (!kind || resource.type !== apiType) return { decision: false };
  const target = targetOf(resource.id, context?.organization_id);
  const question = { kind, subjectId: subject.id, target, scope: action.name };
  return { decision: await evaluate(readers, question) };
}

/** Answers the Access Evaluation API. */
export const answerEvaluation = (readers: Readers, body: unknown): Promise<Decision> =>
  decide(readers, readBody(evaluationBody, body));

// One statement's worth. A long request takes its turn with others between two of them.
const questionsATurn = 50;

/** Answers the Access Evaluations API: each question in its order, up to the one that settles the answer. */
export async function answerEvaluations(
  readers: Readers,
  body: unknown,
): Promise<Decision | { readonly evaluations: readonly Decision[] }> {
  const { evaluations = [], options, ...defaults } = readBody(evaluationsBody, body);
  if (evaluations.length === 0) return answerEvaluation(readers, body);
  const { evaluations_semantic: semantic = 'execute_all' } = options ?? {};
  const decisions: Decision[] = [];
  for (let from = 0; from < evaluations.length; from += questionsATurn) {
    const questions = evaluations.slice(from, from + questionsATurn);
    decisions.push(
      ...(await Promise.all(questions.map((each) => decideWith(readers, defaults, each)))),
    );
    const settling = semantic === 'permit_on_first_permit';
    if (semantic === 'execute_all') continue;
    const last = decisions.findIndex(({ decision }) => decision === settling);
    if (last !== -1) return { evaluations: decisions.slice(0, last + 1) };
  }
  return { evaluations: decisions };
}

/** Answers one of several questions. One that is malformed is denied, and the others are not affected (§7.2.1). */
async function decideWith(readers: Readers, defaults: object, given: unknown): Promise<Decision> {
  const isObject = typeof given === 'object' && given !== null && !Array.isArray(given);
  const read = evaluationBody.safeParse(isObject ? { ...defaults, ...given } : given);
  if (read.success) return decide(readers, read.data);
  return { decision: false, context: { error: { status: 400, message: faultsOf(read.error) } } };
}
