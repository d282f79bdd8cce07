import { useState } from 'react';
import { useData } from '../api/use-data.ts';
import type { ExperienceFieldsFragment } from '../generated/graphql.ts';
import { useMessages } from '../language/language.ts';
import { Page } from '../records/page.tsx';
import { useCan } from '../session/session.ts';
import { Failed } from '../states/failed.tsx';
import { Loading } from '../states/loading.tsx';
import { Experience } from './documents.ts';
import { Providers } from './identity-providers.tsx';
import { experienceMessages } from './messages.ts';
import { Preview } from './preview.tsx';
import { Senders } from './senders.tsx';
import { SettingsForm } from './settings-form.tsx';
import styles from './sign-in-experience.module.css';
import { type ExperienceValues, valuesOfExperience } from './values.ts';

/** How people sign up and sign in, with the pages as they will look beside it. */
export function SignInExperiencePage() {
  const t = useMessages(experienceMessages);
  const { data, error, askAgain } = useData(Experience, {});
  return (
    <Page heading={t.heading} lead={t.lead}>
      {error && !data && <Failed error={error} onRetry={askAgain} />}
      {!data && !error && <Loading />}
      {data && <Settings experience={data.signInExperience} />}
    </Page>
  );
}

function Settings({ experience }: { experience: ExperienceFieldsFragment }) {
  const canWrite = useCan('experience:write');
  const [shown, setShown] = useState<ExperienceValues>();
  const values = valuesOfExperience(experience);
  return (
    <div className={styles.columns}>
      <div className={styles.settings}>
        <SettingsForm values={values} isReadOnly={!canWrite} onValues={setShown} />
        <Senders />
        <Providers />
      </div>
      <div className={styles.beside}>
        <Preview values={shown ?? values} />
      </div>
    </div>
  );
}
