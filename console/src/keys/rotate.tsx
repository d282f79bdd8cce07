import * as z from 'zod/mini';
import type { SigningAlgorithm } from '../generated/graphql.ts';
import { Dialog } from '../kit/dialogs/dialog.tsx';
import { ActionForm } from '../kit/forms/action-form.tsx';
import { SelectField } from '../kit/forms/fields.tsx';
import { useMessages } from '../kit/language/language.ts';
import { toast } from '../kit/toasts.ts';
import { RotateSigningKey } from './documents.ts';
import { keyMessages } from './messages.ts';

const algorithms = [
  'ES256',
  'ES384',
  'EdDSA',
  'RS256',
  'PS256',
] as const satisfies readonly SigningAlgorithm[];

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
        schema={z.object({ algorithm: z.string() })}
        values={{ algorithm: '' }}
        toInput={({ algorithm }) => (algorithm ? { algorithm: algorithm as SigningAlgorithm } : {})}
        onDone={({ signingKey }) => {
          toast.done((signingKey.isComing ? t.prepared : t.rotated)(signingKey.id));
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
            ...algorithms.map((value) => ({ value, label: `${value}: ${t.algorithms[value]}` })),
          ]}
        />
      </ActionForm>
    </Dialog>
  );
}
