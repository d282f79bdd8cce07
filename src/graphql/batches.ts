import DataLoader from 'dataloader';
import type { GraphQLContext } from './context.ts';

/**
 * Makes a reader of one value from a reader of many: all fields of a page that ask for one are read in one batch.
 *
 * @param readMany Reads values in the order of their keys.
 */
export function inBatches<Key, Value>(
  readMany: (context: GraphQLContext, keys: readonly Key[]) => Promise<readonly Value[]>,
): (context: GraphQLContext, key: Key) => Promise<Value> {
  const loaders = new WeakMap<GraphQLContext, DataLoader<Key, Value>>();
  return (context, key) => {
    let loader = loaders.get(context);
    if (!loader) {
      // No cache: a subscription reads with the same context for hours.
      loader = new DataLoader((keys) => readMany(context, keys), { cache: false });
      loaders.set(context, loader);
    }
    return loader.load(key);
  };
}
