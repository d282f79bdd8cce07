import type { Plugin } from 'graphql-yoga';
import { introspectionOptions } from '../graphql/introspection.ts';

/** Removes names of the schema from messages when introspection is off, on every transport. */
export function suggestionsPlugin(config: { readonly introspection: boolean }): Plugin {
  const options = introspectionOptions(config);
  return {
    onValidate({ validateFn, setValidationFn }) {
      setValidationFn(((schema, document, rules, { maxErrors } = {}) =>
        validateFn(schema, document, rules, { maxErrors, ...options })) as typeof validateFn);
    },
    onExecute({ executeFn, setExecuteFn }) {
      setExecuteFn((args) => executeFn({ ...args, ...options }));
    },
    onSubscribe({ subscribeFn, setSubscribeFn }) {
      setSubscribeFn((args) => subscribeFn({ ...args, ...options }));
    },
  };
}
