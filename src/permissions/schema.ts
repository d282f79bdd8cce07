import { queryFromInfo } from '@pothos/plugin-prisma';
import type { GraphQLResolveInfo } from 'graphql';
import { Application } from '../applications/schema.ts';
import type { ManagementScope } from '../auth/scopes.ts';
import { findLive } from '../events/catalogue/live-records.ts';
import type { Application as ApplicationRow, User as UserRow } from '../generated/prisma/client.ts';
import { inBatches } from '../graphql/batches.ts';
import { builder, type SchemaTypes } from '../graphql/builder.ts';
import type { GraphQLContext } from '../graphql/context.ts';
import {
  connectionOf,
  cursorOf,
  idOfCursor,
  type PageArguments,
  pageInfoOf,
  pageSize,
} from '../graphql/lists/page.ts';
import { kindOfId } from '../ids.ts';
import { AnyScope } from '../resources/schema.ts';
import { User } from '../users/schema.ts';
import { type GrantedScope, readGrantedScopes } from './granted.ts';
import { countHolders, type HoldersQuestion, readHolders } from './holders.ts';
import { ScopeSource, sourcesCost, sourcesDescription } from './source-schema.ts';
import { type Holding, kindOfSubject, readSources } from './sources.ts';
import { targetOf } from './target.ts';

const sourcesOf = inBatches(async ({ database }, holdings: readonly Holding[]) =>
  (await readSources(database.sql, holdings, true)).map((sources) => [...(sources ?? [])]),
);

// What has a holding has its sources.
const sourcesField = <Shape extends { readonly holding: Holding }>(
  t: PothosSchemaTypes.ObjectFieldBuilder<SchemaTypes, Shape>,
) =>
  t.field({
    type: [ScopeSource],
    description: `The roles that give it, those of its own first: ${sourcesDescription}`,
    complexity: sourcesCost,
    resolve: ({ holding }, _args, context) => sourcesOf(context, holding),
  });

const Permission = builder
  .objectRef<{ readonly scope: GrantedScope; readonly holding: Holding }>('Permission')
  .implement({
    description: 'A scope that a user or an application would get in a token, and why.',
    fields: (t) => ({
      scope: t.field({
        type: AnyScope,
        description: 'The scope: of the resource, or of organizations.',
        resolve: ({ scope }) => scope,
      }),
      sources: sourcesField(t),
    }),
  });

const PermissionSubject = builder.unionType('PermissionSubject', {
  description: 'Who can hold scopes.',
  types: [User, Application],
  resolveType: ({ id }) => kindOfId(id) as 'User' | 'Application',
});

const PermissionHolder = builder
  .objectRef<{ readonly subject: UserRow | ApplicationRow; readonly holding: Holding }>(
    'PermissionHolder',
  )
  .implement({
    description: 'A user or an application that would get a scope in a token, and why.',
    fields: (t) => ({
      subjectId: t.id({
        description: 'The id of the user or the application.',
        resolve: ({ holding }) => holding.subjectId,
      }),
      subject: t.field({
        type: PermissionSubject,
        description: 'The user or the application.',
        resolve: ({ subject }) => subject,
      }),
      sources: sourcesField(t),
    }),
  });

const PermissionHolderConnection = connectionOf('PermissionHolder', PermissionHolder);

const authScopes: { scope: readonly ManagementScope[] } = {
  scope: ['users:read', 'applications:read', 'roles:read', 'resources:read', 'organizations:read'],
};

const resourceDescription = "The indicator of the resource, or an organization's own.";
const organizationDescription =
  '`organization_id`: limits the token to an organization. Only global roles and the roles in that organization count then; without it, the roles in every organization do.';

/** The most scopes that the cost of a request assumes of one resource. Few have more. */
const scopesCost = 100;

builder.queryField('permissions', (t) =>
  t.field({
    type: [Permission],
    description:
      'The scopes that a user or an application would get now in a token for a resource, by name, and why. Empty if no ' +
      'token would be issued: there is no such subject or resource, the user is suspended, the application has no live ' +
      'secret or is not a machine’s, or it is no member of the organization.',
    authScopes,
    args: {
      subjectId: t.arg.id({ required: true, description: 'The user or the application.' }),
      resource: t.arg.string({ required: true, description: resourceDescription }),
      organizationId: t.arg.id({ description: organizationDescription }),
    },
    complexity: { field: 5, multiplier: scopesCost },
    resolve: async (_root, { subjectId: id, resource, organizationId }, context, info) => {
      const subjectId = String(id);
      const kind = kindOfSubject(subjectId);
      if (!kind) return [];
      const target = targetOf(
        resource,
        organizationId == null ? undefined : String(organizationId),
      );
      const granted = await readGrantedScopes(context, { kind, subjectId, target });
      const model = target.isOrganization ? 'OrganizationScope' : 'Scope';
      const query = queryFromInfo({ context, info, path: ['scope'], typeName: model });
      const ids = granted.map(({ id }) => id);
      const scopes = (await findLive(context, model, ids, query)) as (GrantedScope | null)[];
      return granted.flatMap(({ name }, index) => {
        const scope = scopes[index];
        return scope ? [{ scope, holding: { kind, subjectId, target, scope: name } }] : [];
      });
    },
  }),
);

builder.queryField('whoCan', (t) =>
  t.connection(
    {
      type: PermissionHolder,
      description:
        'The users and applications that would get a scope now in a token for a resource, and why: the applications ' +
        'first, and each in the order of creation. It agrees with `permissions`.',
      authScopes,
      args: {
        resource: t.arg.string({ required: true, description: resourceDescription }),
        scope: t.arg.string({ required: true, description: 'The name of the scope.' }),
        organizationId: t.arg.id({ description: organizationDescription }),
      },
      resolve: (_root, { resource, scope, organizationId, ...page }, context, info) =>
        pageOfHolders(
          context,
          {
            target: targetOf(resource, organizationId == null ? undefined : String(organizationId)),
            scope,
          },
          page,
          info,
        ),
    },
    PermissionHolderConnection,
  ),
);

async function pageOfHolders(
  context: GraphQLContext,
  question: HoldersQuestion,
  args: PageArguments,
  info: GraphQLResolveInfo,
) {
  const size = pageSize(args);
  const isBackward = args.last != null;
  const ids = await readHolders(context, question, {
    after: args.after == null ? undefined : idOfCursor(args.after, 'after'),
    before: args.before == null ? undefined : idOfCursor(args.before, 'before'),
    limit: size + 1,
    isBackward,
  });
  const page = ids.slice(0, size);
  if (isBackward) page.reverse();
  return {
    edges: await readSubjects(context, question, page, info),
    pageInfo: pageInfoOf(args, ids.length > size, (index) => {
      const id = page.at(index);
      return id && cursorOf(id);
    }),
    totalCount: () => countHolders(context, question),
  };
}

/** The entries of a page, without those that were deleted meanwhile. */
async function readSubjects(
  context: GraphQLContext,
  { target, scope }: HoldersQuestion,
  ids: readonly string[],
  info: GraphQLResolveInfo,
) {
  const found = new Map<string, UserRow | ApplicationRow>();
  for (const [model, ofModel] of Map.groupBy(ids, kindOfId)) {
    if (model !== 'User' && model !== 'Application') continue;
    const query = queryFromInfo({
      context,
      info,
      path: ['edges', 'node', 'subject'],
      typeName: model,
    });
    for (const row of await findLive(context, model, ofModel, query)) {
      // They are rows of the model; its name is known only at run time, so the row's type is not.
      if (row) found.set((row as UserRow | ApplicationRow).id, row as UserRow | ApplicationRow);
    }
  }
  return ids.flatMap((subjectId) => {
    const subject = found.get(subjectId);
    const kind = kindOfSubject(subjectId);
    return subject && kind
      ? {
          cursor: cursorOf(subjectId),
          node: { subject, holding: { kind, subjectId, target, scope } },
        }
      : [];
  });
}
