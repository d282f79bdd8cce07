import * as z from 'zod/mini';
import type { SigningAlgorithm } from '../generated/graphql.ts';
import { signingAlgorithms } from '../kit/api/signing-algorithms.ts';
import { Dialog } from '../kit/dialogs/dialog.tsx';
import { ActionForm } from '../kit/forms/action-form.tsx';
import { CheckField, SelectField } from '../kit/forms/fields.tsx';
import { useMessages } from '../kit/language/language.ts';
import { toast } from '../kit/toasts.ts';
import { RotateSigningKey } from './documents.ts';
import { keyMessages } from './messages.ts';

/** Rotates the signing key. */
export function RotateDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const t = useMessages(keyMessages);
  return (
    <Dialog
      title={t.rotateTitle}
      description={t.rotateText}
      isOpen={isOpen}
      onClose={onClose}
      isUrgent
    >
      <ActionForm
        document={RotateSigningKey}
        schema={z.object({ algorithm: z.string(), immediately: z.boolean() })}
        values={{ algorithm: '', immediately: false }}
        toInput={({ algorithm, immediately }) => ({
          ...(algorithm ? { algorithm: algorithm as SigningAlgorithm } : {}),
          ...(immediately ? { immediately } : {}),
        })}
        onDone={({ signingKey: { id, status } }) => {
          toast.done((status === 'PENDING' ? t.prepared : t.rotated)(id));
          onClose();
        }}
        submit={t.rotate}
        onCancel={onClose}
      >
        <SelectField
          name="algorithm"
          label={t.algorithm}
          hint={t.algorithmHint}
          isOptional
          options={[
            { value: '', label: t.configured },
            ...signingAlgorithms.map((value) => ({
              value,
              label: `${value}: ${t.algorithms[value]}`,
            })),
          ]}
        />
        <CheckField name="immediately" label={t.immediately} hint={t.immediatelyHint} />
      </ActionForm>
    </Dialog>
  );
}
