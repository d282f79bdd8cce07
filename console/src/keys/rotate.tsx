import * as z from 'zod/mini';
import { Dialog } from '../dialogs/dialog.tsx';
import { toast } from '../dialogs/toasts.ts';
import { ActionForm } from '../forms/action-form.tsx';
import { SelectField } from '../forms/fields.tsx';
import type { SigningAlgorithm } from '../generated/graphql.ts';
import { useMessages } from '../language/language.ts';
import { RotateSigningKey } from './documents.ts';
import { keyMessages } from './messages.ts';

const algorithms = [
  'ES256',
  'ES384',
  'EdDSA',
  'RS256',
  'PS256',
] as const satisfies readonly SigningAlgorithm[];

/** Lets a new key sign. */
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
        schema={z.object({ algorithm: z.string() })}
        values={{ algorithm: '' }}
        toInput={({ algorithm }) => (algorithm ? { algorithm: algorithm as SigningAlgorithm } : {})}
        onDone={({ signingKey }) => {
          toast.done(t.rotated(signingKey.id));
          onClose();
        }}
        submit={t.rotate}
        onCancel={onClose}
        cancel={t.cancel}
      >
        <SelectField
          name="algorithm"
          label={t.algorithm}
          hint={t.algorithmHint}
          isOptional
          options={[
            { value: '', label: t.configured },
            ...algorithms.map((value) => ({ value, label: `${value}: ${t.algorithms[value]}` })),
          ]}
        />
      </ActionForm>
    </Dialog>
  );
}
