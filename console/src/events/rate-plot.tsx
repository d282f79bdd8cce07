import 'uplot/dist/uPlot.min.css';
import { useEffect, useRef, useState } from 'react';
import UPlot from 'uplot';
import { useMessages } from '../kit/language/language.ts';
import { useStore } from '../kit/store.ts';
import { theme } from '../kit/theme/theme.ts';
import styles from './events.module.css';
import { type EventLog, rateBuckets } from './log.ts';
import { eventMessages } from './messages.ts';

const height = 56;
const everyMs = 1_000;

/** The rate of the log over the last minutes. */
export function RatePlot({ log }: { log: EventLog }) {
  const t = useMessages(eventMessages);
  const container = useRef<HTMLDivElement>(null);
  const chosenTheme = useStore(theme);
  const [figures, setFigures] = useState({ now: 0, most: 0 });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the colors follow the theme.
  useEffect(() => {
    const element = container.current;
    if (!element) return undefined;
    // A canvas does not know CSS variables, so the element's resolved color is used.
    const { color } = getComputedStyle(element);
    const plot = new UPlot(
      {
        width: element.clientWidth,
        height,
        padding: [4, 0, 0, 0],
        cursor: { show: false },
        legend: { show: false },
        select: { show: false, left: 0, top: 0, width: 0, height: 0 },
        scales: {
          x: { time: true },
          y: { range: (_plot, _least, most) => [0, Math.max(4, most)] },
        },
        axes: [{ show: false }, { show: false }],
        series: [
          {},
          {
            fill: color,
            width: 0,
            points: { show: false },
            ...(UPlot.paths.bars ? { paths: UPlot.paths.bars({ size: [0.7, 8] }) } : {}),
          },
        ],
      },
      dataOf(log),
      element,
    );
    const draw = () => {
      const data = dataOf(log);
      plot.setData(data);
      const counts = data[1] as number[];
      const next = { now: counts.at(-1) ?? 0, most: Math.max(0, ...counts) };
      setFigures((before) =>
        before.now === next.now && before.most === next.most ? before : next,
      );
    };
    draw();
    const timer = setInterval(() => {
      if (!document.hidden) draw();
    }, everyMs);
    const resize = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }));
    resize.observe(element);
    return () => {
      clearInterval(timer);
      resize.disconnect();
      plot.destroy();
    };
  }, [log, chosenTheme]);
  return (
    <figure className={styles.rate} aria-label={t.rate}>
      <div
        ref={container}
        className={styles.plot}
        role="img"
        aria-label={t.rateText(figures.now, figures.most)}
      />
      <figcaption className={styles.rateCaption}>
        <span>{t.lastMinutes}</span>
        <span>{t.most(figures.most)}</span>
      </figcaption>
    </figure>
  );
}

function dataOf(log: EventLog): UPlot.AlignedData {
  const { seconds, count } = rateBuckets;
  const last = Math.floor(Date.now() / 1000 / seconds);
  const buckets = Array.from({ length: count }, (_, index) => last - count + 1 + index);
  return [
    buckets.map((bucket) => bucket * seconds),
    buckets.map((bucket) => log.rate.get(bucket) ?? 0),
  ];
}
