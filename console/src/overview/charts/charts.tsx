import { Link } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import type { ActivityRange } from '../../generated/graphql.ts';
import { useAddress } from '../../kit/address.ts';
import { useData } from '../../kit/api/use-data.ts';
import { Button } from '../../kit/controls/button.tsx';
import { useFormat } from '../../kit/language/format.ts';
import { useMessages } from '../../kit/language/language.ts';
import { Section } from '../../kit/records/section.tsx';
import { useCan } from '../../kit/session/session.ts';
import { Failed } from '../../kit/states/failed.tsx';
import { Loading } from '../../kit/states/loading.tsx';
import { explanationMessages } from '../../permissions/explanation/messages.ts';
import { type Bar, Chart, type Counted, type Rows } from './chart.tsx';
import styles from './charts.module.css';
import { type Activity, Charts as ChartsDocument, type Figures } from './documents.ts';
import { chartMessages } from './messages.ts';

/** The ranges by their names in the address, and how often each is asked again. */
const ranges = {
  hour: { range: 'HOUR', everyMs: 10_000, isByDay: false },
  day: { range: 'DAY', everyMs: 60_000, isByDay: false },
  week: { range: 'WEEK', everyMs: 300_000, isByDay: true },
  month: { range: 'MONTH', everyMs: 300_000, isByDay: true },
} as const satisfies Record<string, { range: ActivityRange; everyMs: number; isByDay: boolean }>;

type RangeName = keyof typeof ranges;

const rangeNames = Object.keys(ranges) as RangeName[];

const refusals = { to: '/refusals', search: { kind: 'TOKEN_REFUSED' }, hasTime: true } as const;

/** What the service did in a range of time, against the one before. */
export function Charts() {
  const t = useMessages(chartMessages);
  const { address, change } = useAddress();
  const name = rangeNames.find((one) => one === address['range']) ?? 'hour';
  const { range, everyMs } = ranges[name];
  const { data, error, refetch } = useData(ChartsDocument, { range });
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) refetch();
    }, everyMs);
    return () => clearInterval(timer);
  });
  const wall = useRef<HTMLDivElement>(null);
  const isWall = useIsFullScreen(wall);
  return (
    <div ref={wall} className={styles.wall}>
      <Section
        title={t.title}
        action={
          <div className={styles.tools} role="group" aria-label={t.range}>
            {rangeNames.map((one) => (
              <Button
                key={one}
                size="small"
                kind={one === name ? 'plain' : 'quiet'}
                aria-pressed={one === name}
                onClick={() => change({ range: one === 'hour' ? undefined : one })}
              >
                {t.ranges[ranges[one].range]}
              </Button>
            ))}
            {document.fullscreenEnabled && (
              <Button
                size="small"
                kind="quiet"
                icon="external"
                onClick={() =>
                  isWall ? document.exitFullscreen() : wall.current?.requestFullscreen()
                }
              >
                {isWall ? t.leaveFullScreen : t.fullScreen}
              </Button>
            )}
          </div>
        }
      >
        {data ? (
          <Grid activity={data.statistics.activity} name={name} />
        ) : error ? (
          <Failed error={error} onRetry={refetch} />
        ) : (
          <div className={styles.waiting}>
            <Loading lines={4} />
          </div>
        )}
      </Section>
    </div>
  );
}

/** Whether an element fills the screen. */
function useIsFullScreen(element: { readonly current: Element | null }): boolean {
  const [isFull, setIsFull] = useState(false);
  useEffect(() => {
    const look = () =>
      setIsFull(element.current !== null && document.fullscreenElement === element.current);
    document.addEventListener('fullscreenchange', look);
    return () => document.removeEventListener('fullscreenchange', look);
  }, [element]);
  return isFull;
}

/** A chart: what is counted, where its rows are, and how it is read from the figures. */
interface Kind {
  readonly counted: Counted;
  readonly rows: Rows;
  readonly good: (figures: Figures) => number;
  readonly bad?: (figures: Figures) => number;
  readonly line?: (figures: Figures) => number | null | undefined;
}

function Grid({ activity, name }: { activity: Activity; name: RangeName }) {
  const t = useMessages(chartMessages);
  const format = useFormat();
  const canReadWebhooks = useCan('webhooks:read');
  const ruleName = useRuleName();
  const { range, isByDay } = ranges[name];
  const { current, before, barSeconds } = activity;
  const kinds: readonly Kind[] = [
    {
      counted: { label: t.signIns, good: t.succeeded, bad: t.failed },
      rows: { to: '/events', search: { types: 'POST_SIGN_IN,SIGN_IN_FAILED' }, hasTime: true },
      good: ({ signIns }) => signIns,
      bad: ({ failedSignIns }) => failedSignIns,
    },
    {
      counted: { label: t.exchanges, good: t.granted, bad: t.refused },
      rows: refusals,
      good: ({ exchanges }) => exchanges,
      bad: ({ refusedExchanges }) => refusedExchanges,
    },
    {
      counted: {
        label: t.deliveries,
        good: t.delivered,
        bad: t.failed,
        line: { name: t.p95, tell: (ms) => t.p95Text(format.number(ms)) },
      },
      rows: { to: canReadWebhooks ? '/webhooks' : '/events' },
      good: ({ deliveries }) => deliveries,
      bad: ({ failedDeliveries }) => failedDeliveries,
      line: ({ deliveryP95Ms }) => deliveryP95Ms,
    },
    {
      counted: { label: t.people, good: t.active },
      rows: { to: '/events', search: { types: 'POST_SIGN_IN,POST_REGISTER' }, hasTime: true },
      good: ({ activePeople }) => activePeople,
    },
    {
      counted: { label: t.mutations, good: t.done },
      rows: { to: '/events', hasTime: true },
      good: ({ mutations }) => mutations,
    },
  ];
  const barsOf = (figures: readonly Figures[], { good, bad, line }: Kind) =>
    figures.map(
      (one): Bar => ({
        from: one.at,
        until: new Date(Date.parse(one.at) + barSeconds * 1000).toISOString(),
        good: good(one),
        bad: bad?.(one),
        line: line?.(one),
      }),
    );
  const compare = (now: number, then: number) => {
    if (now === then) return t.same(t.before[range]);
    return then === 0
      ? t.noneBefore(t.before[range])
      : t.compared(format.change((now - then) / then), t.before[range]);
  };
  return (
    <div className={styles.charts}>
      {kinds.map((kind) => {
        const { counted, rows, good, bad, line } = kind;
        const allOf = (figures: Figures) => good(figures) + (bad?.(figures) ?? 0);
        const slow = line?.(current.total);
        const isOfExchanges = counted.label === t.exchanges;
        return (
          <Chart
            key={counted.label}
            counted={counted}
            rows={rows}
            range={t.ranges[range]}
            isByDay={isByDay}
            bars={barsOf(current.bars, kind)}
            before={barsOf(before.bars, kind)}
            total={[
              format.number(good(current.total)),
              ...(bad ? [`${format.number(bad(current.total))} ${counted.bad}`] : []),
              ...(slow != null && counted.line ? [counted.line.tell(slow)] : []),
            ].join(', ')}
            comparison={compare(allOf(current.total), allOf(before.total))}
            more={
              isOfExchanges
                ? (index) =>
                    (current.bars[index]?.refusalsByRule ?? []).map(
                      ({ rule, count }) => `${ruleName(rule)}: ${format.number(count)}`,
                    )
                : undefined
            }
          >
            {isOfExchanges && <Refusals figures={current.total} since={current.bars[0]?.at} />}
          </Chart>
        );
      })}
    </div>
  );
}

/** How many rules are listed; the rest is among the refusals. */
const listedRules = 4;

function useRuleName(): (rule: string) => string {
  const t = useMessages(chartMessages);
  const { faults } = useMessages(explanationMessages);
  return (rule) =>
    rule === 'SERVICE' ? t.service : ((faults as Readonly<Record<string, string>>)[rule] ?? rule);
}

/** The rules that refused most. */
function Refusals({ figures, since }: { figures: Figures; since: string | undefined }) {
  const t = useMessages(chartMessages);
  const format = useFormat();
  const ruleName = useRuleName();
  if (figures.refusalsByRule.length === 0) return null;
  return (
    <ul className={styles.rules} aria-label={t.refusedBy}>
      {figures.refusalsByRule.slice(0, listedRules).map(({ rule, count }) => (
        <li key={rule}>
          <Link to={refusals.to} search={{ ...refusals.search, ...(since && { since }) }}>
            {ruleName(rule)}
          </Link>
          <span>{format.number(count)}</span>
        </li>
      ))}
    </ul>
  );
}
