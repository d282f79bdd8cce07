/**
 * Options for every call of graphql-js on a client's document. With introspection off, its messages must not suggest
 * names either: they would reveal the schema name by name.
 */
export const introspectionOptions = ({ introspection }: { readonly introspection: boolean }) => ({
  hideSuggestions: !introspection,
});
