import {
  catalogue,
  dataSchemaOf,
  enumValueOf,
  eventNames,
  typeNameOf,
} from '../../src/events/catalogue.ts';
import type { JsonSchema } from '../../src/events/fields.ts';
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
    ['name', 'in GraphQL', 'raised when'],
    eventNames.map((name) => [
      `[${name}](#${name.toLowerCase().replaceAll('.', '')})`,
      `${code(enumValueOf(name))}, ${code(typeNameOf(name))}`,
      catalogue[name].description,
    ]),
  );
  const each = eventNames.map((name) => {
    const { properties = {} } = dataSchemaOf(name) as Schema;
    const rows = Object.entries(properties).map(([field, schema]) => [code(field), shape(schema)]);
    return `### ${name}\n\n${catalogue[name].description}\n\n${table(['field', 'holds'], rows)}`;
  });
  return [overview, ...each].join('\n\n');
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
