import * as z from 'zod/mini';
import { useData } from '../kit/api/use-data.ts';
import { ActionForm } from '../kit/forms/action-form.tsx';
import { choicesOf, RadioCards } from '../kit/forms/choices.tsx';
import { formMessages } from '../kit/forms/messages.ts';
import { useMessages } from '../kit/language/language.ts';
import { Section } from '../kit/records/section.tsx';
import { useCan } from '../kit/session/session.ts';
import { Failed } from '../kit/states/failed.tsx';
import { Loading } from '../kit/states/loading.tsx';
import { toast } from '../kit/toasts.ts';
import { ProofSettings, UpdateProofSettings } from './documents.ts';
import { settingsMessages } from './messages.ts';

const nonces = ['OFF', 'REQUIRED'] as const;

/** What proofs of possession must be like, at the whole service. */
export function Proofs() {
  const t = useMessages(settingsMessages);
  const texts = useMessages(formMessages);
  const canWrite = useCan('applications:write');
  const { data, error, refetch } = useData(ProofSettings, {});
  if (error && !data) return <Failed error={error} onRetry={refetch} />;
  if (!data) return <Loading lines={3} />;
  const { serviceSettings } = data;
  return (
    <Section title={t.proofs} about={t.proofsAbout}>
      <ActionForm
        document={UpdateProofSettings}
        record={serviceSettings}
        isReadOnly={!canWrite}
        schema={z.object({ dpopNonce: z.enum(nonces) })}
        values={{ dpopNonce: serviceSettings.dpopNonce }}
        toInput={(values) => values}
        onDone={() => toast.done(texts.saved)}
        submit={texts.save}
      >
        <RadioCards
          name="dpopNonce"
          label={t.nonce}
          choices={choicesOf(nonces, t.nonces, t.nonceTexts)}
        />
      </ActionForm>
    </Section>
  );
}
