import type { PageInfoFragment } from '../../generated/graphql.ts';
import { graphql } from './graphql.ts';

// Every list's document spreads it.
graphql(`
  fragment PageInfo on PageInfo {
    hasNextPage
    hasPreviousPage
    startCursor
    endCursor
  }
`);

/** Where a page of a list ends, and whether there are others. */
export type PageInfo = PageInfoFragment;
