import type { TypedDocumentNode } from '@urql/core';
import { useEffect, useState } from 'react';
import { graphql } from '../api/graphql.ts';
import type { Refusal } from '../api/refusal.ts';
import { type RehearsedEvent, rehearse, send } from '../api/send.ts';
import { Notice } from '../controls/notice.tsx';
import { useLanguage, useMessages } from '../language/language.ts';
import { useCan } from '../session/session.ts';
import { eventsInWords } from './event-words.ts';
import styles from './foreseen.module.css';
import { dialogMessages } from './messages.ts';

const WhoHears = graphql(`
  query WhoHears {
    webhooks(first: 100, filter: { enabled: true }) {
      edges { node { id events } }
      pageInfo { hasNextPage }
    }
  }
`);

/** After this, the person is told that it could not be checked. */
const patienceMs = 10_000;

interface Foresight {
  readonly events: readonly RehearsedEvent[];
  readonly refusal: Refusal | undefined;
  readonly hearing: { readonly count: number; readonly isMore: boolean };
}

/**
 * Says what a mutation would do, from a dry run of it: the events in words, how many webhooks get them, and why it
 * would be refused. If that cannot be found out, nothing is in the way.
 */
export function Foreseen<Data extends object, Input extends object>({
  document,
  input,
}: {
  document: TypedDocumentNode<Data, { input: Input }>;
  input: Input;
}) {
  const t = useMessages(dialogMessages);
  const language = useLanguage();
  const seesWebhooks = useCan('webhooks:read');
  const [foresight, setForesight] = useState<Foresight | 'asking' | 'unknown'>('asking');
  const key = JSON.stringify(input);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` stands for the input.
  useEffect(() => {
    const closed = new AbortController();
    const signal = AbortSignal.any([closed.signal, AbortSignal.timeout(patienceMs)]);
    foresee(document, input, seesWebhooks, signal).then(setForesight, () => {
      if (!closed.signal.aborted) setForesight('unknown');
    });
    return () => closed.abort();
  }, [document, key, seesWebhooks]);
  return (
    <div className={styles.foreseen} aria-live="polite" aria-busy={foresight === 'asking'}>
      {foresight === 'asking' && <p className={styles.about}>{t.foreseeing}</p>}
      {foresight === 'unknown' && <p className={styles.about}>{t.unforeseen}</p>}
      {typeof foresight === 'object' &&
        (foresight.refusal ? (
          <Notice tone="bad" title={t.wouldBeRefused}>
            {foresight.refusal.message}
          </Notice>
        ) : foresight.events.length === 0 ? (
          <p className={styles.about}>{t.nothingForeseen}</p>
        ) : (
          <>
            <p className={styles.title}>{t.foreseen}</p>
            <ul>
              {eventsInWords(foresight.events, language).map((text) => (
                <li key={text}>{text}</li>
              ))}
              {foresight.hearing.count > 0 && (
                <li>{t.hear(foresight.hearing.count, foresight.hearing.isMore)}</li>
              )}
            </ul>
          </>
        ))}
    </div>
  );
}

async function foresee<Data extends object, Input extends object>(
  document: TypedDocumentNode<Data, { input: Input }>,
  input: Input,
  seesWebhooks: boolean,
  signal: AbortSignal,
): Promise<Foresight> {
  const { events, refusal } = await rehearse(document, input, signal);
  return {
    events,
    refusal,
    // Without this number, the rest is told all the same.
    hearing: seesWebhooks ? await hearing(events, signal).catch(() => nobody) : nobody,
  };
}

const nobody: Foresight['hearing'] = { count: 0, isMore: false };

/** How many webhooks would get one of the events at least. */
async function hearing(
  events: readonly RehearsedEvent[],
  signal: AbortSignal,
): Promise<Foresight['hearing']> {
  const raised = new Set<string>(events.map(({ type }) => enumNameOf(type)));
  if (raised.size === 0) return nobody;
  const { webhooks } = await send(WhoHears, {}, signal);
  const hear = webhooks.edges.filter(
    ({ node }) => node.events.length === 0 || node.events.some((type) => raised.has(type)),
  );
  return { count: hear.length, isMore: webhooks.pageInfo.hasNextPage };
}

/** `User.Data.Updated` is `USER_DATA_UPDATED` in the schema. */
const enumNameOf = (type: string): string =>
  type
    .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
    .replaceAll('.', '_')
    .toUpperCase();
