import type { ApplyConfigurationInput, ConfigurationAction } from '../generated/graphql.ts';
import { Badge } from '../kit/controls/badge.tsx';
import { Button } from '../kit/controls/button.tsx';
import { CopyAs } from '../kit/controls/copy-as.tsx';
import { Icon } from '../kit/controls/icon.tsx';
import { Notice } from '../kit/controls/notice.tsx';
import { eventsInWords } from '../kit/dialogs/event-words.ts';
import { useFormat } from '../kit/language/format.ts';
import { useLanguage, useMessages } from '../kit/language/language.ts';
import { Section } from '../kit/records/section.tsx';
import { EmptyState } from '../kit/states/state.tsx';
import styles from './configuration.module.css';
import { ApplyConfiguration, type Plan } from './documents.ts';
import { configurationMessages } from './messages.ts';

type Change = Plan['changes'][number];

const tones = { CREATE: 'good', UPDATE: 'warn', DELETE: 'bad' } as const;

/** Up to so many changes, the fields of those that exist already are shown at once. */
const openUpTo = 20;

/** A plan, or what was applied. */
export function PlanSection({
  plan: { changes, events, warnings },
  isApplied,
  input,
  isApplying,
  onApply,
}: {
  plan: Plan;
  isApplied: boolean;
  input: ApplyConfigurationInput;
  isApplying: boolean;
  onApply: () => void;
}) {
  const t = useMessages(configurationMessages);
  const format = useFormat();
  const language = useLanguage();
  const count = (action: ConfigurationAction) =>
    changes.filter((change) => change.action === action).length;
  const counts = (['CREATE', 'UPDATE', 'DELETE'] as const).map((one) => format.number(count(one)));
  const [create = '', update = '', remove = ''] = counts;
  const noted = warnings.length > 0 && (
    <Notice tone="warn" title={t.warnings}>
      <ul className={styles.faults}>
        {warnings.map(({ message }) => (
          <li key={message}>{message}</li>
        ))}
      </ul>
    </Notice>
  );
  if (changes.length === 0) {
    return (
      <Section title={t.planTitle}>
        {noted}
        <EmptyState icon="check" title={t.nothingTitle}>
          {t.nothingText}
        </EmptyState>
      </Section>
    );
  }
  return (
    <Section
      title={isApplied ? t.applied : t.planTitle}
      about={(isApplied ? t.appliedCounts : t.counts)(create, update, remove)}
    >
      {noted}
      {/* biome-ignore lint/a11y/noRedundantRoles: without its marks, Safari takes it for no list. */}
      <ul className={styles.changes} role="list" aria-label={t.changes}>
        {changes.map((change, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: names may be shared, and a plan does not change.
          <li key={index}>
            <OneChange
              change={change}
              isOpen={change.action === 'UPDATE' && changes.length <= openUpTo}
            />
          </li>
        ))}
      </ul>
      {events.length > 0 && (
        <div>
          <h3 className={styles.subtitle}>{t.events}</h3>
          <ul className={styles.faults}>
            {eventsInWords(
              events.map(({ type }) => ({ type, data: null })),
              language,
            ).map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </div>
      )}
      {!isApplied && (
        <div className={styles.bar}>
          <CopyAs document={ApplyConfiguration} input={input} />
          <Button
            kind={count('DELETE') > 0 ? 'danger' : 'primary'}
            isBusy={isApplying}
            onClick={onApply}
          >
            {t.apply}
          </Button>
        </div>
      )}
    </Section>
  );
}

function OneChange({
  change: { action, kind, key, fields },
  isOpen,
}: {
  change: Change;
  isOpen: boolean;
}) {
  const t = useMessages(configurationMessages);
  const head = (
    <>
      <Badge tone={tones[action]}>{t.actions[action]}</Badge>
      <span className={styles.kind}>{t.kinds[kind]}</span>
      <span className={styles.key}>{key}</span>
    </>
  );
  if (fields.length === 0) return <div className={styles.head}>{head}</div>;
  return (
    <details open={isOpen}>
      <summary className={styles.head}>
        {head}
        <span className={styles.arrow}>
          <Icon name="down" size={12} />
        </span>
      </summary>
      <table className={styles.fields} aria-label={t.fieldsOf(key)}>
        <thead>
          <tr>
            <th scope="col">{t.field}</th>
            {action !== 'CREATE' && <th scope="col">{t.before}</th>}
            {action !== 'DELETE' && <th scope="col">{t.after}</th>}
          </tr>
        </thead>
        <tbody>
          {fields.map(({ path, before, after }) => (
            <tr key={path.join('.')}>
              <th scope="row">{path.join('.')}</th>
              {action !== 'CREATE' && (
                <td data-label={t.before}>
                  <Value of={before} kind={action === 'UPDATE' ? 'gone' : 'plain'} />
                </td>
              )}
              {action !== 'DELETE' && (
                <td data-label={t.after}>
                  <Value of={after} kind={action === 'UPDATE' ? 'come' : 'plain'} />
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

function Value({ of, kind }: { of: unknown; kind: 'gone' | 'come' | 'plain' }) {
  const t = useMessages(configurationMessages);
  if (of === null || of === undefined || of === '') {
    return <span className={styles.none}>{t.none}</span>;
  }
  return (
    <code className={styles[kind]}>
      {typeof of === 'string' ? of : JSON.stringify(of, null, 1)}
    </code>
  );
}
