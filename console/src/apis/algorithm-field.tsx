import type { SigningAlgorithm } from '../generated/graphql.ts';
import { signingAlgorithms } from '../kit/api/signing-algorithms.ts';
import { SelectField } from '../kit/forms/fields.tsx';
import { useMessages } from '../kit/language/language.ts';
import { apiPageMessages } from './messages.ts';

/** What the field says: an algorithm, or null for the service's. */
export const algorithmOf = (chosen: string): SigningAlgorithm | null =>
  signingAlgorithms.find((algorithm) => algorithm === chosen) ?? null;

/** The field of the algorithm of access tokens. */
export function AlgorithmField() {
  const t = useMessages(apiPageMessages);
  return (
    <SelectField
      name="signingAlg"
      label={t.signingAlg}
      hint={t.signingAlgHint}
      options={[
        { value: '', label: t.asService },
        ...signingAlgorithms.map((value) => ({ value, label: value })),
      ]}
    />
  );
}
