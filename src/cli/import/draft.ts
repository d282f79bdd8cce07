import type { z } from 'zod';
import { adminRoleName } from '../../applications/built-in.ts';
import { readNewApplication } from '../../applications/settings.ts';
import { documentVersion, placeholder, topKinds } from '../../configuration/document.ts';
import { type RecordKindName, recordKind } from '../../configuration/kinds.ts';
import { consoleRoleNames } from '../../console/roles.ts';
import { type EventName, enumValueOf } from '../../events/catalogue/catalogue.ts';
import { createInput as createProviderInput } from '../../identity-providers/operations.ts';
import { parseInput } from '../../input.ts';
import { type Language, languages } from '../../languages.ts';
import { smtp as smtpInput } from '../../messages/operations.ts';
import { createRoleInput as createOrganizationRoleInput } from '../../organization-roles/operations.ts';
import { createScopeInput as createOrganizationScopeInput } from '../../organization-roles/scopes.ts';
import { createResourceInput, createScopeInput } from '../../resources/operations.ts';
import { createRoleInput } from '../../roles/operations.ts';
import { settingsInput } from '../../sign-in-experience/operations.ts';
import { createWebhookInput } from '../../webhooks/endpoint/operations.ts';
import { fitRecord, type Values } from './fit-record.ts';
import type { Part } from './part.ts';

const by = (schema: z.ZodType<object>) => (values: unknown) => parseInput(schema, values);

/** How the service reads a new record of each kind. */
const readers = {
  RESOURCE: by(createResourceInput),
  SCOPE: by(createScopeInput.omit({ resourceId: true })),
  ROLE: by(createRoleInput),
  ORGANIZATION_SCOPE: by(createOrganizationScopeInput),
  ORGANIZATION_ROLE: by(createOrganizationRoleInput),
  APPLICATION: readNewApplication,
  WEBHOOK: by(createWebhookInput),
  IDENTITY_PROVIDER: by(createProviderInput),
} satisfies Partial<Record<RecordKindName, (values: unknown) => object>>;

// A document that names these would change Signet's own roles.
const ownRoles = [adminRoleName, ...consoleRoleNames];

/** Several records may have one name; but then a document needs their ids, which an import does not know. */
const sharesNames = (kind: RecordKindName) =>
  kind === 'APPLICATION' || kind === 'WEBHOOK' || kind === 'IDENTITY_PROVIDER';

/** The language of a tag such as `de-AT`, if Signet speaks it. */
export const knownLanguage = (tag: string | undefined): Language | undefined =>
  languages.find((language) => language === tag?.split('-')[0]?.toLowerCase());

/** A scope of a resource: the indicator, and the name of the scope. */
export type ScopeName = readonly [indicator: string, scope: string];

/** The document that an import prints. What does not fit the service is left out, and told. */
export class Draft {
  readonly #records = new Map<RecordKindName, Map<string, Values>>();
  #email: Values | undefined;
  #signIn: Values = {};

  /** @returns The indicator; undefined if the resource is not taken. */
  resource(
    part: Part,
    values: Values,
    scopes: readonly (readonly [Part, Values])[],
  ): string | undefined {
    const taken = new Map<string, Values>();
    for (const [scope, given] of scopes) {
      const fitting = fitRecord(scope, given, readers.SCOPE);
      const name = String(fitting?.['name']);
      if (taken.has(name)) scope.leave(`is not taken: there is another scope "${name}"`);
      else if (fitting) taken.set(name, fitting);
    }
    return this.#add('RESOURCE', part, values, () => unlessEmpty('scopes', [...taken.values()]));
  }

  /** @returns The name; undefined if the role is not taken. */
  role(part: Part, values: Values, scopes: Iterable<ScopeName>): string | undefined {
    const isOwn = ownRoles.includes(String(values['name']).trim());
    const name = isOwn ? `${String(values['name']).trim()} (imported)` : values['name'];
    if (isOwn) part.leave(`is named "${name}": Signet has a role of its own with its name`);
    return this.#add('ROLE', part, { ...values, name }, () =>
      unlessEmpty('scopes', this.#scopes(part, scopes)),
    );
  }

  organizationScope(part: Part, values: Values): void {
    this.#add('ORGANIZATION_SCOPE', part, values);
  }

  organizationRole(
    part: Part,
    values: Values,
    links: { readonly scopes: readonly string[]; readonly resourceScopes: readonly ScopeName[] },
  ): void {
    const known = this.#all('ORGANIZATION_SCOPE');
    const missing = links.scopes.filter((name) => !known.has(name));
    if (missing.length > 0) part.leave(`scopes: ${missing.join(', ')}: not in the document`);
    this.#add('ORGANIZATION_ROLE', part, values, () => ({
      ...unlessEmpty(
        'scopes',
        links.scopes.filter((name) => known.has(name)),
      ),
      ...unlessEmpty('resourceScopes', this.#scopes(part, links.resourceScopes)),
    }));
  }

  /** @param roles The names of its roles; those that were not taken are left out. */
  application(part: Part, values: Values, roles: readonly (string | undefined)[] = []): void {
    const names = [...new Set(roles.filter((role) => role !== undefined))];
    this.#add('APPLICATION', part, values, () => unlessEmpty('roles', names));
  }

  /** @param events The events under their names in the catalogue. */
  webhook(part: Part, values: Values, events: readonly EventName[], headers: readonly string[]) {
    this.#add('WEBHOOK', part, values, (name) => ({
      events: events.map(enumValueOf),
      ...unlessEmpty(
        'headers',
        Object.fromEntries(headers.map((header) => [header, placeholder(name, header)])),
      ),
    }));
  }

  identityProvider(part: Part, values: Values): void {
    const name = this.#add('IDENTITY_PROVIDER', part, values, (called) => ({
      clientSecret: placeholder(called, 'clientSecret'),
    }));
    const isUnreachable =
      values['kind'] === 'ENTERPRISE' &&
      isEmpty((values['emailDomains'] ?? []) as readonly string[]);
    if (name !== undefined && isUnreachable) {
      part.leave('has no e-mail domains: nobody is sent there until you add emailDomains');
    }
  }

  /** The mail server. @param values Those of SMTP, without the password. */
  smtp(part: Part, values: Values): void {
    const hasPassword = values['username'] != null;
    const secret = hasPassword ? { password: 'placeholder' } : {};
    const fitting = fitRecord(part, { ...values, ...secret }, by(smtpInput));
    if (!fitting) return;
    const password = hasPassword ? { password: placeholder('email', 'password') } : {};
    this.#email = { smtp: { ...fitting, ...password } };
  }

  /** How people sign in. Each call adds fields; in groups too. */
  signIn(part: Part, values: Values): void {
    const groups = Object.fromEntries(
      Object.entries(values)
        .map(([field, value]) => [field, isGroup(value) ? withoutNothing(value) : value])
        .filter(([, value]) => value != null && !(isGroup(value) && isEmpty(value))),
    ) as Values;
    const fitting = fitRecord(part, groups, by(settingsInput)) ?? {};
    const merged = Object.entries(fitting).map(([field, value]) => {
      const before = this.#signIn[field];
      return [field, isGroup(value) && isGroup(before) ? { ...before, ...value } : value];
    });
    const { factorPolicy, ...others } = { ...this.#signIn, ...Object.fromEntries(merged) };
    // The service refuses to require what it does not offer.
    const isImpossible = factorPolicy === 'REQUIRED' && isEmpty(others['factors'] ?? []);
    if (isImpossible) part.leave('a second factor is not required: none of its factors is taken');
    this.#signIn = isImpossible || !factorPolicy ? others : { ...others, factorPolicy };
  }

  /** The document, without empty sections. */
  document(): Values {
    const sections = topKinds.flatMap((kind) => {
      const records = [...this.#all(kind).values()];
      return records.length > 0 ? [[recordKind(kind).section, records]] : [];
    });
    return {
      signet: documentVersion,
      ...Object.fromEntries(sections),
      ...(this.#email ? { messageSenders: { email: this.#email } } : {}),
      ...(isEmpty(this.#signIn) ? {} : { signInExperience: this.#signIn }),
    };
  }

  #all(kind: RecordKindName): Map<string, Values> {
    const records = this.#records.get(kind) ?? new Map<string, Values>();
    this.#records.set(kind, records);
    return records;
  }

  #add(
    kind: keyof typeof readers,
    part: Part,
    given: Values,
    more: (name: string) => Values = () => ({}),
  ): string | undefined {
    const fitting = fitRecord(part, given, readers[kind]);
    if (!fitting) return undefined;
    const { key } = recordKind(kind);
    const first = String(fitting[key]).trim();
    const known = this.#all(kind);
    let name = first;
    for (let count = 2; known.has(name); count += 1) {
      if (!sharesNames(kind)) {
        part.leave(`is not taken: there is another with the ${key} "${first}"`);
        return undefined;
      }
      name = `${first.slice(0, 120)} (${count})`;
    }
    if (name !== first) part.leave(`is named "${name}", because there is another "${first}"`);
    known.set(name, { ...fitting, [key]: name, ...more(name) });
    return name;
  }

  /** The scopes that the document has, under the indicators of their resources. */
  #scopes(part: Part, wanted: Iterable<ScopeName>): Readonly<Record<string, string[]>> {
    const found = new Map<string, string[]>();
    for (const [indicator, group] of Map.groupBy(wanted, ([indicator]) => indicator)) {
      const resource = this.#all('RESOURCE').get(indicator);
      const scopes = (resource?.['scopes'] ?? []) as readonly Values[];
      const known = new Set(scopes.map(({ name }) => name));
      const names = [...new Set(group.map(([, scope]) => scope))];
      const missing = names.filter((name) => !known.has(name));
      if (missing.length > 0) {
        const of = indicator === '' ? 'a resource without an indicator' : indicator;
        part.leave(`scopes: ${missing.join(', ')} of ${of}: not in the document`);
      }
      if (missing.length < names.length) {
        found.set(
          indicator,
          names.filter((name) => known.has(name)),
        );
      }
    }
    return Object.fromEntries(found);
  }
}

const isGroup = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isEmpty = (values: object) => Object.keys(values).length === 0;

const unlessEmpty = (field: string, value: object): Values =>
  isEmpty(value) ? {} : { [field]: value };

const withoutNothing = (group: Values) =>
  Object.fromEntries(Object.entries(group).filter(([, value]) => value != null));
