import { useWatch } from 'react-hook-form';
import * as z from 'zod/mini';
import type { AdmissionQuery } from '../../generated/graphql.ts';
import { useData } from '../../kit/api/use-data.ts';
import { ActionForm } from '../../kit/forms/action-form.tsx';
import { choicesOf, RadioCards } from '../../kit/forms/choices.tsx';
import { filled, ListField } from '../../kit/forms/list-field.tsx';
import { formMessages } from '../../kit/forms/messages.ts';
import { useMessages } from '../../kit/language/language.ts';
import { Section } from '../../kit/records/section.tsx';
import { useCan } from '../../kit/session/session.ts';
import { Failed } from '../../kit/states/failed.tsx';
import { Loading } from '../../kit/states/loading.tsx';
import { toast } from '../../kit/toasts.ts';
import { Admission, UpdateAdmission } from './documents.ts';
import { agentMessages } from './messages.ts';
import { RegistrationTokens } from './registration-tokens.tsx';

type Settings = AdmissionQuery['serviceSettings'];

const documentPolicies = ['OFF', 'LISTED', 'ANY'] as const;
const dynamicPolicies = ['OFF', 'INITIAL_ACCESS_TOKEN', 'OPEN'] as const;

/** Which applications may come in by themselves, and the tokens that they may need for it. */
export function AdmissionTab() {
  const { data, error, refetch } = useData(Admission, {});
  if (error && !data) return <Failed error={error} onRetry={refetch} />;
  if (!data) return <Loading />;
  return (
    <>
      <Policy settings={data.serviceSettings} />
      <RegistrationTokens settings={data.serviceSettings} />
    </>
  );
}

function Policy({ settings }: { settings: Settings }) {
  const t = useMessages(agentMessages);
  const texts = useMessages(formMessages);
  const canWrite = useCan('applications:write');
  const { metadataDocuments, metadataHosts, dynamic } = settings.clientRegistration;
  return (
    <Section title={t.policy} about={t.policyAbout}>
      <ActionForm
        document={UpdateAdmission}
        record={settings}
        isReadOnly={!canWrite}
        schema={z.object({
          clientRegistration: z.object({
            metadataDocuments: z.enum(documentPolicies),
            metadataHosts: z.array(z.string()),
            dynamic: z.enum(dynamicPolicies),
          }),
        })}
        values={{ clientRegistration: { metadataDocuments, metadataHosts, dynamic } }}
        toInput={({ clientRegistration }) => ({
          clientRegistration: {
            ...clientRegistration,
            metadataHosts: filled(clientRegistration.metadataHosts),
          },
        })}
        onDone={() => toast.done(texts.saved)}
        submit={texts.save}
      >
        <RadioCards
          name="clientRegistration.metadataDocuments"
          label={t.documents}
          hint={t.documentsHint}
          choices={choicesOf(documentPolicies, t.documentPolicies, t.documentPolicyTexts)}
        />
        <Hosts />
        <RadioCards
          name="clientRegistration.dynamic"
          label={t.dynamic}
          hint={t.dynamicHint}
          choices={choicesOf(dynamicPolicies, t.dynamicPolicies, t.dynamicPolicyTexts)}
        />
      </ActionForm>
    </Section>
  );
}

function Hosts() {
  const t = useMessages(agentMessages);
  const policy = useWatch({ name: 'clientRegistration.metadataDocuments' });
  if (policy !== 'LISTED') return null;
  return (
    <ListField
      name="clientRegistration.metadataHosts"
      label={t.hosts}
      hint={t.hostsHint}
      placeholder="agent.example.com"
    />
  );
}
