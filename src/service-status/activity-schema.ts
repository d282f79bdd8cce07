import { builder } from '../graphql/builder.ts';
import {
  type Activity,
  type ActivityFigures,
  type ActivityPeriod,
  type ActivityRange,
  activityRanges,
  refusalsOf,
  slowestMs,
} from './activity.ts';
import type { Figure } from './figures.ts';

/** How far back the figures of `Statistics.activity` go. */
export const ActivityRangeEnum = builder.enumType('ActivityRange', {
  description: 'How far back figures go.',
  values: {
    HOUR: { description: 'An hour, by the minute.' },
    DAY: { description: 'A day, by half an hour.' },
    WEEK: { description: 'Seven days, by three hours.' },
    MONTH: { description: 'Thirty days, by half a day.' },
  } as const satisfies Record<ActivityRange, object>,
});

const RuleCount = builder.objectRef<{ rule: string; count: number }>('RuleCount').implement({
  description: 'How many exchanges a rule refused.',
  fields: (t) => ({
    rule: t.exposeString('rule', {
      description:
        'The rule, an `ExchangeRule`; `SERVICE` where the service could not answer. Versions after this one may have others.',
    }),
    count: t.exposeInt('count', { description: 'The number of exchanges.' }),
  }),
});

const ActivityFiguresObject = builder.objectRef<ActivityFigures>('ActivityFigures').implement({
  description: 'What was done in a span of time, by all processes together.',
  fields: (t) => {
    const counted = (figure: Figure, description: string) =>
      t.int({ description, resolve: ({ counts }) => counts.get(figure) ?? 0 });
    return {
      at: t.expose('at', { type: 'DateTime', description: 'When the span begins.' }),
      signIns: counted('signIns', 'Sign-ins of people.'),
      failedSignIns: counted('failedSignIns', 'Sign-ins, and proofs of people, that failed.'),
      exchanges: counted('exchanges', 'Tokens that were exchanged.'),
      refusedExchanges: counted('refusedExchanges', 'Exchanges that were refused.'),
      refusalsByRule: t.field({
        type: [RuleCount],
        description: 'The refused exchanges by the rule that they broke, the most first.',
        resolve: refusalsOf,
      }),
      mutations: counted('mutations', 'Mutations of the management API that did their work.'),
      deliveries: counted('deliveries', 'Attempts to deliver an event that succeeded.'),
      failedDeliveries: counted('failedDeliveries', 'Attempts to deliver an event that failed.'),
      deliveryP95Ms: t.int({
        nullable: true,
        description:
          'Within how many milliseconds 95 of 100 attempts to deliver were answered, or failed; an estimate. Null without an attempt.',
        resolve: slowestMs,
      }),
      activePeople: t.exposeInt('activePeople', {
        description:
          'How many people signed in, or got tokens through an application. Whoever comes twice counts once. Of many it is an estimate, within some four per cent.',
      }),
    };
  },
});

const ActivityPeriodObject = builder.objectRef<ActivityPeriod>('ActivityPeriod').implement({
  description: 'A span of time, and its parts.',
  fields: (t) => ({
    from: t.expose('from', { type: 'DateTime', description: 'When it begins.' }),
    until: t.expose('until', {
      type: 'DateTime',
      description: 'When it ends: for the current one, the end of the part that has begun.',
    }),
    total: t.field({
      type: ActivityFiguresObject,
      description: 'What was done in all of it.',
      resolve: ({ total }) => total,
    }),
    bars: t.field({
      type: [ActivityFiguresObject],
      description: 'Its parts, oldest first; they are equally long.',
      complexity: {
        field: 1,
        multiplier: Math.max(...Object.values(activityRanges).map(({ bars }) => bars)),
      },
      resolve: ({ bars }) => [...bars],
    }),
  }),
});

/** What was done in a range, and before it. */
export const ActivityObject = builder.objectRef<Activity>('Activity').implement({
  description: 'What was done in a range of time, and in the same length of time before it.',
  fields: (t) => ({
    barSeconds: t.int({
      description: 'How many seconds one part of a period has.',
      resolve: ({ barMs }) => barMs / 1000,
    }),
    current: t.field({
      type: ActivityPeriodObject,
      description: 'The range, up to now.',
      resolve: ({ current }) => current,
    }),
    before: t.field({
      type: ActivityPeriodObject,
      description: 'The range before it.',
      resolve: ({ before }) => before,
    }),
  }),
});
