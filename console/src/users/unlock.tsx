import { useState } from 'react';
import * as z from 'zod/mini';
import type { IdentifierType } from '../generated/graphql.ts';
import { Button } from '../kit/controls/button.tsx';
import { Dialog } from '../kit/dialogs/dialog.tsx';
import { ActionForm } from '../kit/forms/action-form.tsx';
import { SelectField } from '../kit/forms/fields.tsx';
import { useMessages } from '../kit/language/language.ts';
import { toast } from '../kit/toasts.ts';
import { accessMessages } from './access/messages.ts';
import { UnlockIdentifier } from './documents.ts';
import type { ShownUser } from './profile-tab.tsx';

/** Unlocks one of the user's identifiers. */
export function Unlock({ user }: { user: ShownUser }) {
  const t = useMessages(accessMessages);
  const [isOpen, setIsOpen] = useState(false);
  const close = () => setIsOpen(false);
  const identifiers = (
    [
      ['USERNAME', user.username],
      ['EMAIL', user.primaryEmail],
      ['PHONE', user.primaryPhone],
    ] as const
  ).flatMap(([type, value]) => (value ? [{ type, value }] : []));
  const [first] = identifiers;
  if (!first) return null;
  const valueIn = (type: string) => identifiers.find((one) => one.type === type)?.value ?? '';
  return (
    <>
      <Button onClick={() => setIsOpen(true)}>{t.unlock}</Button>
      <Dialog
        title={t.unlock}
        description={t.unlockText}
        isOpen={isOpen}
        onClose={close}
        size="small"
      >
        <ActionForm
          document={UnlockIdentifier}
          schema={z.object({ type: z.string() })}
          values={{ type: first.type as string }}
          toInput={({ type }) => ({ type: type as IdentifierType, value: valueIn(type) })}
          onDone={({ value }) => {
            close();
            toast.done(t.isUnlocked(value));
          }}
          submit={t.unlock}
          onCancel={close}
        >
          <SelectField
            name="type"
            label={t.identifier}
            options={identifiers.map(({ type, value }) => ({ value: type, label: value }))}
          />
        </ActionForm>
      </Dialog>
    </>
  );
}
