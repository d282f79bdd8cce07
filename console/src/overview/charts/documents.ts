import type { ChartFiguresFragment, ChartsQuery } from '../../generated/graphql.ts';
import { graphql } from '../../kit/api/graphql.ts';

graphql(`
  fragment ChartFigures on ActivityFigures {
    at
    signIns
    failedSignIns
    exchanges
    refusedExchanges
    refusalsByRule { rule count }
    mutations
    deliveries
    failedDeliveries
    deliveryP95Ms
    activePeople
  }
`);

export const Charts = graphql(`
  query Charts($range: ActivityRange!) {
    statistics {
      activity(range: $range) {
        barSeconds
        current { total { ...ChartFigures } bars { ...ChartFigures } }
        before { total { ...ChartFigures } bars { ...ChartFigures } }
      }
    }
  }
`);

/** What was done in one part of a range. */
export type Figures = ChartFiguresFragment;

/** A range with its parts, and the one before. */
export type Activity = ChartsQuery['statistics']['activity'];
