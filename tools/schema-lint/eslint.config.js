// The rules of graphql-eslint that make a schema one for Relay, and one where everything is described.
import graphql from '@graphql-eslint/eslint-plugin';

// A connection of two authorization servers, which those outside know by this name, and no page of a list.
const notAPage = 'CrossAppConnection';

function exceptFor(rule) {
  const create = (context) =>
    Object.fromEntries(
      Object.entries(rule.create(context)).map(([selector, check]) => [
        selector,
        (node) => (node.name?.value ?? node.value) === notAPage || check(node),
      ]),
    );
  return { ...rule, create };
}

const rules = {
  ...graphql.rules,
  'relay-arguments': exceptFor(graphql.rules['relay-arguments']),
  'relay-connection-types': exceptFor(graphql.rules['relay-connection-types']),
};

export default [
  {
    files: ['schema.graphql'],
    languageOptions: {
      parser: graphql.parser,
      parserOptions: { graphQLConfig: { schema: './schema.graphql' } },
    },
    plugins: { '@graphql-eslint': { ...graphql, rules } },
    rules: {
      ...graphql.configs['flat/schema-relay'].rules,
      // As the Relay specification has it: there are lists outside of connections (`failures` of an import is no page),
      // and connections of what has no id of its own (a membership is named by its two ends).
      '@graphql-eslint/relay-edge-types': [
        'error',
        { withEdgeSuffix: true, shouldImplementNode: false, listTypeCanWrapOnlyEdgeType: false },
      ],
      '@graphql-eslint/require-description': [
        'error',
        {
          types: true,
          FieldDefinition: true,
          InputValueDefinition: true,
          EnumValueDefinition: true,
          DirectiveDefinition: true,
          rootField: true,
        },
      ],
      '@graphql-eslint/description-style': 'error',
      '@graphql-eslint/no-scalar-result-type-on-mutation': 'error',
      '@graphql-eslint/require-deprecation-reason': 'error',
      '@graphql-eslint/unique-enum-value-names': 'error',
      '@graphql-eslint/naming-convention': [
        'error',
        {
          types: 'PascalCase',
          FieldDefinition: 'camelCase',
          InputValueDefinition: 'camelCase',
          Argument: 'camelCase',
          DirectiveDefinition: 'camelCase',
        },
      ],
    },
  },
];
