import { Link, useNavigate } from '@tanstack/react-router';
import { type ReactNode, useRef, useState } from 'react';
import { classes } from '../../kit/controls/classes.ts';
import { useFormat } from '../../kit/language/format.ts';
import { useMessages } from '../../kit/language/language.ts';
import styles from './charts.module.css';
import { chartMessages } from './messages.ts';
import { lineOf, topOf } from './scale.ts';

const size = { width: 600, height: 160 };
const ticks = 4;

/** One bar: when it begins and ends, and what it counts. */
export interface Bar {
  readonly from: string;
  readonly until: string;
  readonly good: number;
  readonly bad?: number | undefined;
  /** A value on an axis of its own; null where there is none. */
  readonly line?: number | null | undefined;
}

/** What a chart counts, and how that is called. */
export interface Counted {
  readonly label: string;
  readonly good: string;
  readonly bad?: string;
  /** The line on an axis of its own. */
  readonly line?: { readonly name: string; readonly tell: (value: number) => string };
}

/** The rows that a chart counts. */
export interface Rows {
  readonly to: string;
  readonly search?: Readonly<Record<string, string>>;
  /** Whether the page of the rows knows `since` and `until`. */
  readonly hasTime?: boolean;
}

/**
 * A chart of counts as bars, failures on top, with the counts of the period before as a line. Pointing at a bar tells
 * what it counts; the arrow keys do the same. A click, or Enter, leads to the rows of its time.
 */
export function Chart({
  counted,
  bars,
  before,
  total,
  comparison,
  range,
  rows,
  isByDay,
  more,
  children,
}: {
  counted: Counted;
  bars: readonly Bar[];
  before: readonly Bar[];
  /** What is said of the whole range. */
  total: string;
  comparison: string;
  range: string;
  rows: Rows;
  isByDay: boolean;
  /** What else is said of a bar. */
  more?: ((index: number) => readonly string[]) | undefined;
  children?: ReactNode;
}) {
  const t = useMessages(chartMessages);
  const format = useFormat();
  const navigate = useNavigate();
  const [chosen, setChosen] = useState<number>();
  const isFirstTouch = useRef(false);
  const sums = [...bars, ...before].map(({ good, bad = 0 }) => good + bad);
  const top = topOf(sums);
  const lineTop = topOf(bars.map(({ line }) => line ?? 0));
  const step = size.width / Math.max(1, bars.length);
  const searchOf = (bar?: Bar) => ({
    ...rows.search,
    ...(rows.hasTime && bars[0] && { since: bar?.from ?? bars[0].from }),
    // What has begun still grows.
    ...(rows.hasTime && bar && bar !== bars.at(-1) && { until: bar.until }),
  });
  const tell = (index: number): readonly string[] => {
    const bar = bars[index];
    if (!bar) return [];
    const earlier = before[index];
    return [
      `${format.number(bar.good)} ${counted.good}`,
      ...(counted.bad ? [`${format.number(bar.bad ?? 0)} ${counted.bad}`] : []),
      ...(counted.line && bar.line != null ? [counted.line.tell(bar.line)] : []),
      ...(more?.(index) ?? []),
      ...(earlier ? [`${t.beforeName}: ${format.number(earlier.good + (earlier.bad ?? 0))}`] : []),
    ];
  };
  const spanOf = ({ from, until }: Bar) =>
    t.span(format.soon(from), isByDay ? format.soon(until) : format.time(until));
  const open = (index: number) => {
    const bar = bars[index];
    if (bar) void navigate({ to: rows.to, search: searchOf(bar) } as never); // As a page's address.
  };
  const indexAt = (element: Element, x: number) => {
    const { left, width } = element.getBoundingClientRect();
    const index = Math.floor(((x - left) / Math.max(1, width)) * bars.length);
    return Math.min(bars.length - 1, Math.max(0, index));
  };
  const last = bars.length - 1;
  const current = chosen ?? last;
  const shown = chosen === undefined ? undefined : bars[chosen];
  const inPercent = (index: number) => `${((index + 0.5) / bars.length) * 100}%`;
  return (
    <figure className={styles.chart}>
      <figcaption className={styles.head}>
        <Link to={rows.to} search={searchOf()} className={styles.name}>
          {counted.label}
        </Link>
        <span className={styles.total}>{total}</span>
        <span className={styles.comparison}>{comparison}</span>
      </figcaption>
      <div className={styles.body}>
        <div className={styles.axis} aria-hidden="true">
          <span>{format.number(top)}</span>
          <span>{format.number(top / 2)}</span>
          <span>0</span>
        </div>
        <div className={styles.plot}>
          <svg
            className={styles.drawing}
            viewBox={`0 0 ${size.width} ${size.height}`}
            preserveAspectRatio="none"
            role="img"
            aria-label={t.plotText(counted.label, range, total)}
          >
            <path
              className={styles.grid}
              d={`M0 0.5H${size.width}M0 ${size.height / 2}H${size.width}M0 ${size.height - 0.5}H${size.width}`}
            />
            {bars.map(({ from, good, bad = 0 }, index) => {
              const goodHeight = (good / top) * size.height;
              const badHeight = (bad / top) * size.height;
              const at = { x: (index + 0.1) * step, width: step * 0.8 };
              return (
                <g key={from}>
                  {index === chosen && (
                    <rect
                      x={index * step}
                      width={step}
                      height={size.height}
                      className={styles.chosen}
                    />
                  )}
                  <rect
                    {...at}
                    y={size.height - goodHeight}
                    height={goodHeight}
                    className={styles.good}
                  />
                  <rect
                    {...at}
                    y={size.height - goodHeight - badHeight}
                    height={badHeight}
                    className={styles.bad}
                  />
                </g>
              );
            })}
            <path
              className={styles.beforeLine}
              d={lineOf(
                before.map(({ good, bad = 0 }) => good + bad),
                top,
                size,
              )}
            />
            {counted.line && (
              <path
                className={styles.ownLine}
                d={lineOf(
                  bars.map(({ line }) => line ?? null),
                  lineTop,
                  size,
                )}
              />
            )}
          </svg>
          <div
            className={styles.pointed}
            role="slider"
            tabIndex={0}
            aria-label={t.moments(counted.label)}
            aria-valuemin={0}
            aria-valuemax={Math.max(0, last)}
            aria-valuenow={current}
            aria-valuetext={
              bars[current] && [`${spanOf(bars[current])}:`, tell(current).join(', ')].join(' ')
            }
            aria-description={t.open}
            onPointerMove={(event) => setChosen(indexAt(event.currentTarget, event.clientX))}
            onPointerLeave={() => setChosen(undefined)}
            onPointerDown={({ pointerType, currentTarget, clientX }) => {
              const index = indexAt(currentTarget, clientX);
              // A finger cannot point without touching: the first touch tells, the second opens.
              isFirstTouch.current = pointerType !== 'mouse' && index !== chosen;
              setChosen(index);
            }}
            onClick={({ currentTarget, clientX }) => {
              if (!isFirstTouch.current) open(indexAt(currentTarget, clientX));
            }}
            onFocus={(event) => {
              if (event.currentTarget.matches(':focus-visible')) setChosen(last);
            }}
            onBlur={() => setChosen(undefined)}
            onKeyDown={(event) => {
              const to = {
                ArrowLeft: current - 1,
                ArrowDown: current - 1,
                ArrowRight: current + 1,
                ArrowUp: current + 1,
                PageDown: current - Math.ceil(bars.length / 10),
                PageUp: current + Math.ceil(bars.length / 10),
                Home: 0,
                End: last,
              }[event.key];
              if (to !== undefined) {
                event.preventDefault();
                setChosen(Math.min(last, Math.max(0, to)));
              } else if (event.key === 'Enter' || event.key === ' ') {
                event.preventDefault();
                open(current);
              } else if (event.key === 'Escape') setChosen(undefined);
            }}
          />
          {shown && chosen !== undefined && (
            <div
              className={classes(
                styles.tip,
                chosen < bars.length / 3 && styles.tipStart,
                chosen >= (bars.length * 2) / 3 && styles.tipEnd,
              )}
              style={{ left: inPercent(chosen) }}
              aria-hidden="true"
            >
              <strong>{spanOf(shown)}</strong>
              {tell(chosen).map((line) => (
                <span key={line}>{line}</span>
              ))}
            </div>
          )}
        </div>
        <div className={classes(styles.axis, styles.ownAxis)} aria-hidden="true">
          {counted.line && bars.some(({ line }) => line != null) && (
            <>
              <span>{t.ms(format.number(lineTop))}</span>
              <span>{t.ms(format.number(lineTop / 2))}</span>
              <span>0</span>
            </>
          )}
        </div>
        <div className={styles.times} aria-hidden="true">
          {Array.from({ length: ticks }, (_, tick) => Math.floor((tick * bars.length) / ticks)).map(
            (index) =>
              bars[index] && (
                <span key={index} style={{ left: `${(index / bars.length) * 100}%` }}>
                  {isByDay ? format.day(bars[index].from) : format.time(bars[index].from)}
                </span>
              ),
          )}
          <span className={styles.now}>{t.now}</span>
        </div>
      </div>
      <ul className={styles.legend} aria-hidden="true">
        <li className={styles.goodKey}>{counted.good}</li>
        {counted.bad && <li className={styles.badKey}>{counted.bad}</li>}
        {counted.line && <li className={styles.lineKey}>{counted.line.name}</li>}
        <li className={styles.beforeKey}>{t.beforeName}</li>
      </ul>
      {children}
    </figure>
  );
}
