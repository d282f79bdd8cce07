import type { ConfigurationKind } from '../generated/graphql.ts';
import { createStore } from '../kit/store.ts';

/** A document that is to be planned. */
export interface Draft {
  readonly document: string;
  readonly prune: readonly ConfigurationKind[];
  /** When it was planned last. */
  readonly plannedAt?: string | undefined;
}

/** The document of this tab. It may hold secrets, so it is kept in memory alone. */
export const kept = createStore<Draft>({ document: '', prune: [] });
