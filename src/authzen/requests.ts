import { z } from 'zod';
import { requestError } from '../graphql/request-error.ts';
import type { SubjectKind } from '../permissions/held.ts';

/** The longest id, name or type in a request. Nothing that exists has a longer one. */
export const maxNameLength = 2_048;

const name = z.string().max(maxNameLength);
// What has a standard form besides is accepted and not looked at (§5: `properties`).
const properties = z.record(z.string(), z.unknown()).optional();
const typed = z.object({ type: name, properties });
const identified = typed.extend({ id: name });
const action = z.object({ name, properties });
const context = z.object({ organization_id: name.optional() }).optional();

/** One question: may this subject do this there? (Access Evaluation API, §6.1) */
export const evaluationBody = z.object({
  subject: identified,
  action,
  resource: identified,
  context,
});

/** A question that is well-formed. */
export type EvaluationBody = z.infer<typeof evaluationBody>;

/** The most questions in one request. */
export const maxEvaluations = 1_000;

const anyObject = z.record(z.string(), z.unknown());

/** Several questions, with defaults (Access Evaluations API, §7.1). Each is read when its turn comes. */
export const evaluationsBody = z.object({
  subject: anyObject.optional(),
  action: anyObject.optional(),
  resource: anyObject.optional(),
  context: anyObject.optional(),
  evaluations: z.array(z.unknown()).max(maxEvaluations).optional(),
  options: z
    .object({
      evaluations_semantic: z
        .enum(['execute_all', 'deny_on_first_deny', 'permit_on_first_permit'])
        .optional(),
    })
    .optional(),
});

/** The most entries in a page of a search. */
export const maxPageSize = 1_000;

const page = z
  .object({
    token: z
      .string()
      .max(4 * maxNameLength)
      .optional(),
    limit: z.int().min(0).optional(),
    properties,
  })
  .optional();

/** The page that a search asks for (§8.2.1). */
export type PageRequest = z.infer<typeof page>;

/** Who may do this there? (Subject Search API, §8.4.1) */
export const subjectSearchBody = z.object({
  subject: typed,
  action,
  resource: identified,
  context,
  page,
});

/** What may this subject do there? (Action Search API, §8.6.1) */
export const actionSearchBody = z.object({
  subject: identified,
  resource: identified,
  context,
  page,
});

/** Where may this subject do this? (Resource Search API, §8.5.1) */
export const resourceSearchBody = z.object({
  subject: identified,
  action,
  resource: typed,
  context,
  page,
});

/**
 * Reads the body of a request. What is not known of it is ignored (§10.1.1).
 *
 * @throws BAD_USER_INPUT with the fields that are missing or malformed.
 */
export function readBody<Schema extends z.ZodType>(
  schema: Schema,
  body: unknown,
): z.output<Schema> {
  const read = schema.safeParse(body);
  if (read.success) return read.data;
  throw requestError('BAD_USER_INPUT', faultsOf(read.error));
}

/** The faults of a body, as one line. */
export const faultsOf = ({ issues }: z.ZodError): string =>
  issues
    .slice(0, 10)
    .map(
      ({ path, message }) =>
        `${path.length === 0 ? 'The body' : `"${path.join('.')}"`}: ${message}`,
    )
    .join('. ');

/** The type of the resources that are known here: APIs, by their indicators. */
export const apiType = 'api';

/** The kind of subject that a type names; undefined for any other type. */
export const kindOfType = (type: string): SubjectKind | undefined =>
  type === 'user' || type === 'application' ? type : undefined;
