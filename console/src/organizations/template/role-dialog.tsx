import type { TypedDocumentNode } from '@urql/core';
import * as z from 'zod/mini';
import type { OrganizationRoleQuery } from '../../generated/graphql.ts';
import { send } from '../../kit/api/send.ts';
import { useAllPages } from '../../kit/api/use-all-pages.ts';
import { useData } from '../../kit/api/use-data.ts';
import type { Pick } from '../../kit/controls/search-picker.tsx';
import { Dialog } from '../../kit/dialogs/dialog.tsx';
import { PickAction } from '../../kit/dialogs/pick-action.tsx';
import { RemoveAction } from '../../kit/dialogs/remove-action.tsx';
import { ActionForm } from '../../kit/forms/action-form.tsx';
import { changedDescribed, filledText } from '../../kit/forms/described.ts';
import { TextField } from '../../kit/forms/fields.tsx';
import { formMessages } from '../../kit/forms/messages.ts';
import { useMessages } from '../../kit/language/language.ts';
import { searchApiScopes } from '../../kit/records/search-api-scopes.ts';
import { picksOf } from '../../kit/records/search-records.ts';
import { useCan } from '../../kit/session/session.ts';
import { Failed } from '../../kit/states/failed.tsx';
import { Loading } from '../../kit/states/loading.tsx';
import { organizationMessages } from '../messages.ts';
import styles from '../organizations.module.css';
import {
  AddOrganizationRoleResourceScopes,
  AddOrganizationRoleScopes,
  ApiScopesOfOrganizationRole,
  OrganizationRole,
  RemoveOrganizationRoleResourceScope,
  RemoveOrganizationRoleScope,
  ScopesOfOrganizationRole,
  SearchOrganizationScopes,
  UpdateOrganizationRole,
} from './documents.ts';

/** The dialog of an organization role: its fields, and its scopes, which apply at once. */
export function RoleDialog({ id, onClose }: { id: string | undefined; onClose: () => void }) {
  const t = useMessages(organizationMessages);
  return (
    <Dialog title={t.roleTitle} isOpen={id !== undefined} onClose={onClose} size="wide">
      {id && <Role id={id} onClose={onClose} />}
    </Dialog>
  );
}

function Role({ id, onClose }: { id: string; onClose: () => void }) {
  const { data, error, refetch } = useData(OrganizationRole, { id });
  if (error && !data) return <Failed error={error} onRetry={refetch} />;
  if (!data) return <Loading lines={4} />;
  if (!data.organizationRole) return null;
  return <RoleForm role={data.organizationRole} onClose={onClose} />;
}

function RoleForm({
  role,
  onClose,
}: {
  role: NonNullable<OrganizationRoleQuery['organizationRole']>;
  onClose: () => void;
}) {
  const t = useMessages(organizationMessages);
  const texts = useMessages(formMessages);
  const canWrite = useCan('organizations:write');
  const organizationRoleId = role.id;
  const withResources = useCan('resources:read');
  const scopes = useAllPages(
    ScopesOfOrganizationRole,
    { id: role.id },
    ({ organizationRole }) => organizationRole?.scopes,
  );
  return (
    <ActionForm
      document={UpdateOrganizationRole}
      record={role}
      isReadOnly={!canWrite}
      schema={z.object({
        name: filledText(texts.required),
        description: z.string(),
      })}
      values={{ name: role.name, description: role.description ?? '' }}
      toInput={({ name, description }) => ({
        id: role.id,
        ...changedDescribed({ name, description }),
      })}
      onDone={onClose}
      submit={texts.save}
      {...(canWrite ? { onCancel: onClose } : {})}
    >
      <TextField name="name" label={t.name} />
      <TextField name="description" label={t.description} isOptional />
      <ScopeSet
        title={t.organizationScopes}
        held={scopes.nodes?.map((node) => ({ key: node.id, text: node.name }))}
        canWrite={canWrite}
        label={t.addOrganizationScope}
        placeholder={t.searchOrganizationScopes}
        search={async (search, signal) =>
          picksOf((await send(SearchOrganizationScopes, { search }, signal)).organizationScopes)
        }
        add={{
          document: AddOrganizationRoleScopes,
          input: (scopeId) => ({ organizationRoleId, organizationScopeIds: [scopeId] }),
        }}
        remove={{
          document: RemoveOrganizationRoleScope,
          input: (organizationScopeId) => ({ organizationRoleId, organizationScopeId }),
        }}
      />
      {withResources && <ApiScopes organizationRoleId={organizationRoleId} canWrite={canWrite} />}
    </ActionForm>
  );
}

function ApiScopes({
  organizationRoleId,
  canWrite,
}: {
  organizationRoleId: string;
  canWrite: boolean;
}) {
  const t = useMessages(organizationMessages);
  const scopes = useAllPages(
    ApiScopesOfOrganizationRole,
    { id: organizationRoleId },
    ({ organizationRole }) => organizationRole?.resourceScopes,
  );
  return (
    <ScopeSet
      title={t.apiScopes}
      held={scopes.nodes?.map((node) => ({
        key: node.id,
        text: `${node.resource.name}: ${node.name}`,
      }))}
      canWrite={canWrite}
      label={t.addApiScope}
      placeholder={t.searchApis}
      search={searchApiScopes}
      add={{
        document: AddOrganizationRoleResourceScopes,
        input: (scopeId) => ({ organizationRoleId, scopeIds: [scopeId] }),
      }}
      remove={{
        document: RemoveOrganizationRoleResourceScope,
        input: (scopeId) => ({ organizationRoleId, scopeId }),
      }}
    />
  );
}

/** A mutation for one scope. */
interface ScopeAction<Data extends object, Input extends object> {
  readonly document: TypedDocumentNode<Data, { input: Input }>;
  readonly input: (key: string) => Input;
}

function ScopeSet<
  Added extends object,
  Addition extends object,
  Removed extends object,
  Removal extends object,
>({
  title,
  held = [],
  canWrite,
  label,
  placeholder,
  search,
  add,
  remove,
}: {
  title: string;
  /** Undefined until it is known. */
  held: readonly Pick[] | undefined;
  canWrite: boolean;
  label: string;
  placeholder: string;
  search: (text: string, signal: AbortSignal) => Promise<readonly Pick[]>;
  add: ScopeAction<Added, Addition>;
  remove: ScopeAction<Removed, Removal>;
}) {
  const t = useMessages(organizationMessages);
  return (
    <div className={styles.set} role="group" aria-label={title}>
      <span className={styles.name}>{title}</span>
      {held.length === 0 && <p className={styles.about}>{t.noScopes}</p>}
      <ul className={styles.chips}>
        {held.map(({ key, text }) => (
          <li key={key} className={styles.chip}>
            {text}
            {canWrite && (
              <RemoveAction
                label={t.remove(text)}
                document={remove.document}
                input={remove.input(key)}
              />
            )}
          </li>
        ))}
      </ul>
      {canWrite && (
        <PickAction
          label={label}
          placeholder={placeholder}
          search={async (text, signal) =>
            (await search(text, signal)).filter(({ key }) => !held.some((one) => one.key === key))
          }
          {...add}
        />
      )}
    </div>
  );
}
