import { auditTypes } from '../../src/events/catalogue/audit.ts';
import {
  catalogue,
  dataSchemaOf,
  enumValueOf,
  eventNames,
  typeNameOf,
} from '../../src/events/catalogue/catalogue.ts';
import type { JsonSchema } from '../../src/events/catalogue/fields.ts';
import { raised } from '../../src/graphql/mutations/raised.ts';
import { code, table } from './markdown.ts';

interface Schema extends JsonSchema {
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: unknown;
}

/** Every type of event: when it is raised, and its data. */
export function eventTypes(): string {
  const overview = table(
    ['name', 'in GraphQL', 'audit', 'raised when'],
    eventNames.map((name) => [
      `[${name}](#${name.toLowerCase().replaceAll('.', '')})`,
      `${code(enumValueOf(name))}, ${code(typeNameOf(name))}`,
      auditTypes.includes(name) ? 'yes' : '',
      catalogue[name].description,
    ]),
  );
  const each = eventNames.map((name) => {
    const { properties = {} } = dataSchemaOf(name) as Schema;
    const rows = Object.entries(properties).map(([field, schema]) => [code(field), shape(schema)]);
    return [
      `### ${name}`,
      catalogue[name].description,
      raisedBy(name),
      table(['field', 'holds'], rows),
    ]
      .filter(Boolean)
      .join('\n\n');
  });
  return [overview, ...each].join('\n\n');
}

/** The mutations that may raise it. What people do on pages, and Signet by itself, has no mutation. */
function raisedBy(name: string): string {
  const mutations = Object.entries<readonly string[]>(raised)
    .filter(([, names]) => names.includes(name))
    .map(([mutation]) => code(mutation));
  return mutations.length === 0 ? '' : `Raised by ${mutations.join(', ')}.`;
}

function shape(schema: Schema): string {
  const types = [schema.type ?? 'any'].flat();
  const orNull = types.includes('null') ? ' or null' : '';
  if (schema.enum) return schema.enum.map(code).join(', ');
  if (schema.format === 'date-time') return `an instant, ISO 8601 in UTC${orNull}`;
  if (schema.items) {
    return schema.items.properties
      ? `a list of ${code(`{ ${Object.keys(schema.items.properties).join(', ')} }`)}`
      : 'a list of ids';
  }
  if (schema.properties) return code(`{ ${Object.keys(schema.properties).join(', ')} }`);
  if (types[0] !== 'object') return `${types[0]}${orNull}`;
  // The changed fields, each with its value before and after.
  return schema.additionalProperties === true ? 'a JSON object' : code('{ field: { from, to } }');
}
