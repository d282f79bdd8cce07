import { useEffect } from 'react';
import { useData } from '../api/use-data.ts';
import { Time } from '../controls/time.tsx';
import type { FiguresQuery } from '../generated/graphql.ts';
import { useFormat } from '../language/format.ts';
import { useMessages } from '../language/language.ts';
import { Properties, Property, Section } from '../records/section.tsx';
import { Failed } from '../states/failed.tsx';
import { Loading } from '../states/loading.tsx';
import { Figures, RunningService } from './documents.ts';
import { overviewMessages } from './messages.ts';
import styles from './overview.module.css';

const everyMs = 10_000;

type Minute = FiguresQuery['statistics']['minutes'][number];

/** What the service did in each of the last minutes. */
export function Activity() {
  const t = useMessages(overviewMessages);
  const { data, error, askAgain } = useData(Figures, {});
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) askAgain();
    }, everyMs);
    return () => clearInterval(timer);
  });
  if (error && !data) return <Failed error={error} onRetry={askAgain} />;
  if (!data) return <Loading lines={4} />;
  const { minutes } = data.statistics;
  return (
    <Section title={t.activity} about={t.activityAbout}>
      <div className={styles.plots}>
        <Plot label={t.signIns} minutes={minutes} good={({ signIns }) => signIns} />
        <Plot
          label={t.exchanges}
          minutes={minutes}
          good={({ exchanges }) => exchanges}
          bad={({ refusedExchanges }) => refusedExchanges}
          badLabel={t.refused}
        />
        <Plot label={t.mutations} minutes={minutes} good={({ mutations }) => mutations} />
        <Plot
          label={t.deliveries}
          minutes={minutes}
          good={({ deliveries }) => deliveries}
          bad={({ failedDeliveries }) => failedDeliveries}
          badLabel={t.failedOnes}
        />
      </div>
    </Section>
  );
}

/** What runs: which Signet, on which node, with which database. */
export function Running() {
  const t = useMessages(overviewMessages);
  const { data } = useData(RunningService, {});
  if (!data) return null;
  const { service } = data;
  return (
    <Section title={t.service}>
      <Properties>
        <Property name="Signet">{service.version}</Property>
        <Property name={t.process}>
          {service.nodeId} · Node.js {service.nodeVersion}
        </Property>
        <Property name={t.database}>
          {service.database === 'EMBEDDED' ? t.embedded : 'PostgreSQL'} {service.databaseVersion}
        </Property>
        <Property name={t.startedAt}>
          <Time at={service.startedAt} />
        </Property>
      </Properties>
    </Section>
  );
}

const [width, height] = [240, 48];

/** Two counts a minute as bars, the bad ones on top. */
function Plot({
  label,
  minutes,
  good,
  bad,
  badLabel = '',
}: {
  label: string;
  minutes: readonly Minute[];
  good: (minute: Minute) => number;
  bad?: (minute: Minute) => number;
  badLabel?: string;
}) {
  const t = useMessages(overviewMessages);
  const format = useFormat();
  const bars = minutes.map((minute) => ({ good: good(minute), bad: bad?.(minute) ?? 0 }));
  const sumGood = bars.reduce((sum, bar) => sum + bar.good, 0);
  const sumBad = bars.reduce((sum, bar) => sum + bar.bad, 0);
  const most = Math.max(4, ...bars.map((bar) => bar.good + bar.bad));
  const step = width / Math.max(1, bars.length);
  const told = [format.number(sumGood), bad && `${format.number(sumBad)} ${badLabel}`]
    .filter(Boolean)
    .join(', ');
  return (
    <figure className={styles.plot}>
      <figcaption className={styles.plotHead}>
        <span className={styles.muted}>{label}</span>
        <span>{told}</span>
      </figcaption>
      <svg
        className={styles.bars}
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={t.plotText(label, told)}
      >
        {bars.map((bar, index) => {
          const goodHeight = (bar.good / most) * height;
          const badHeight = (bar.bad / most) * height;
          const at = { x: index * step, width: step * 0.75 };
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: a bar is its place.
            <g key={index}>
              <rect
                {...at}
                y={height - goodHeight}
                height={goodHeight}
                className={styles.goodBar}
              />
              <rect
                {...at}
                y={height - goodHeight - badHeight}
                height={badHeight}
                className={styles.badBar}
              />
            </g>
          );
        })}
      </svg>
    </figure>
  );
}
