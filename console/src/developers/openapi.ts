import { servicePath } from '../kit/service-url.ts';

/** A value's type, as far as the reference shows it. */
interface Schema {
  readonly type?: string | readonly string[];
  readonly $ref?: string;
  readonly format?: string;
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

interface Described {
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly description?: string;
    readonly schema?: Schema;
  }[];
  readonly requestBody?: {
    readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>;
  };
}

interface Document {
  readonly tags: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
}

/** A value that a route takes. */
interface Value {
  readonly name: string;
  /** Where it stands: path, query, header or body. */
  readonly place: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly description: string;
}

/** A route of the REST API. */
export interface Route {
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly scopes: readonly string[];
  readonly values: readonly Value[];
}

/** The routes of one kind of record. */
export interface RouteGroup {
  readonly name: string;
  readonly description: string;
  readonly routes: readonly Route[];
}

/**
 * Reads the REST API from its OpenAPI document.
 *
 * @returns Undefined where the service does not offer it.
 */
export async function fetchRoutes(): Promise<readonly RouteGroup[] | undefined> {
  const response = await fetch(`${servicePath}/api/openapi.json`);
  if (response.status === 401 || response.status === 404) return undefined;
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  return groupsOf((await response.json()) as Document);
}

function groupsOf({ tags, paths }: Document): readonly RouteGroup[] {
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({
      tag: described.tags?.[0] ?? '',
      route: routeOf(method, path, described),
    })),
  );
  return tags.map(({ name, description = '' }) => ({
    name,
    description,
    routes: routes.flatMap(({ tag, route }) => (tag === name ? [route] : [])),
  }));
}

function routeOf(method: string, path: string, described: Described): Route {
  const { summary = '', description = '', parameters = [], security, requestBody } = described;
  const body = requestBody?.content?.['application/json']?.schema;
  return {
    method: method.toUpperCase(),
    path,
    summary,
    description,
    scopes: security?.[0]?.['bearer'] ?? [],
    values: [
      ...parameters.map(({ name, in: place, required, schema, description: text }) => ({
        name,
        place,
        type: typeOf(schema),
        isRequired: required === true,
        description: text ?? schema?.description ?? '',
      })),
      ...Object.entries(body?.properties ?? {}).map(([name, schema]) => ({
        name,
        place: 'body',
        type: typeOf(schema),
        isRequired: body?.required?.includes(name) ?? false,
        description: schema.description ?? '',
      })),
    ],
  };
}

/** A type in a word or two. */
function typeOf(schema: Schema | undefined): string {
  if (!schema) return '';
  const { $ref: reference, type, items, enum: values, anyOf, oneOf, format } = schema;
  if (reference) return reference.split('/').at(-1) ?? '';
  if (values) return values.filter((value) => value !== null).join(' | ');
  const others = anyOf ?? oneOf;
  if (others)
    return others
      .map(typeOf)
      .filter((name) => name !== 'null')
      .join(' | ');
  const name = [type ?? []].flat().find((one) => one !== 'null') ?? '';
  if (name === 'array') return `${typeOf(items)}[]`;
  return format ?? name;
}
