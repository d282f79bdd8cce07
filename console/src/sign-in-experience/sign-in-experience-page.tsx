import { type ComponentType, type ReactNode, useState } from 'react';
import type { ExperienceFieldsFragment } from '../generated/graphql.ts';
import { useData } from '../kit/api/use-data.ts';
import { useMessages } from '../kit/language/language.ts';
import { Page } from '../kit/records/page.tsx';
import { PageTabs } from '../kit/records/page-tabs.tsx';
import { useCan } from '../kit/session/session.ts';
import { Failed } from '../kit/states/failed.tsx';
import { Loading } from '../kit/states/loading.tsx';
import { BrandingForm } from './branding-form.tsx';
import { Experience } from './documents.ts';
import { Providers } from './identity-providers.tsx';
import { experienceMessages } from './messages.ts';
import { MethodsForm } from './methods-form.tsx';
import type { TabForm } from './part.tsx';
import { Preview } from './preview.tsx';
import { SecurityForm } from './security-form.tsx';
import { Senders } from './senders.tsx';
import styles from './sign-in-experience.module.css';
import { type ExperienceValues, valuesOfExperience } from './values.ts';

/** The settings of sign-up and sign-in, in tabs, with a preview of the pages. */
export function SignInExperiencePage() {
  const t = useMessages(experienceMessages);
  const { data, error, refetch } = useData(Experience, {});
  return (
    <Page heading={t.heading} lead={t.lead}>
      {error && !data && <Failed error={error} onRetry={refetch} />}
      {!data && !error && <Loading />}
      {data && <Settings experience={data.signInExperience} />}
    </Page>
  );
}

function Settings({ experience }: { experience: ExperienceFieldsFragment }) {
  const t = useMessages(experienceMessages);
  const isReadOnly = !useCan('experience:write');
  const values = valuesOfExperience(experience);
  const given = { experience, values, isReadOnly };
  return (
    <PageTabs
      tabs={[
        {
          id: 'branding',
          label: t.branding,
          content: () => <WithPreview {...given} form={BrandingForm} />,
        },
        {
          id: 'methods',
          label: t.methods,
          content: () => <WithPreview {...given} form={MethodsForm} />,
        },
        {
          id: 'security',
          label: t.security,
          content: () => (
            <InColumn>
              <SecurityForm {...given} />
            </InColumn>
          ),
        },
        {
          id: 'messages',
          label: t.messages,
          content: () => (
            <InColumn>
              <Senders />
            </InColumn>
          ),
        },
        {
          id: 'providers',
          label: t.providers,
          content: () => (
            <InColumn>
              <Providers />
            </InColumn>
          ),
        },
      ]}
    />
  );
}

/** As wide as the forms beside the preview. */
const InColumn = ({ children }: { children: ReactNode }) => (
  <div className={styles.columns}>{children}</div>
);

/** A form, and the pages as they would be with its values. */
function WithPreview({
  form: Form,
  ...given
}: Omit<TabForm, 'onValues'> & { form: ComponentType<TabForm> }) {
  const [shown, setShown] = useState<Partial<ExperienceValues>>();
  return (
    <div className={styles.columns}>
      <Form {...given} onValues={setShown} />
      <div className={styles.beside}>
        <Preview values={{ ...given.values, ...shown }} />
      </div>
    </div>
  );
}
