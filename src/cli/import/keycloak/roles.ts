import type { ScopeName } from '../draft.ts';
import type { Part } from '../part.ts';

/** A role of the realm, or of a client. */
interface Role {
  readonly client: string | undefined;
  readonly name: string;
  readonly part: Part;
}

/**
 * The roles of a realm. A client's role is what a scope of a resource is in Signet; a role that contains it holds that
 * scope.
 */
export class Roles {
  readonly #roles = new Map<string, Role>();
  readonly #indicators = new Map<string, string>();

  constructor(settings: Part) {
    const roles = settings.get('roles');
    for (const part of roles.list('realm')) this.#add(part, undefined);
    for (const [client] of roles.get('client').entries()) {
      for (const part of roles.get('client').list(client)) this.#add(part, client);
    }
    roles.leaveUnread();
  }

  #add(part: Part, client: string | undefined): void {
    const name = part.text('name');
    if (name !== undefined) this.#roles.set(keyOf(client, name), { client, name, part });
  }

  /** The roles of the realm, or of a client. */
  of(client: string | undefined): readonly Role[] {
    return [...this.#roles.values()].filter((role) => role.client === client);
  }

  /** Says under which indicator the roles of a client have become scopes. */
  setIndicator(client: string, indicator: string): void {
    this.#indicators.set(client, indicator);
  }

  /**
   * The scopes that a role holds, with those of the roles that it contains.
   *
   * @param without Roles of the realm whose scopes do not count.
   */
  scopesOf(client: string | undefined, name: string, without: readonly string[] = []): ScopeName[] {
    return this.#collect(client, name, new Set(without.map((one) => keyOf(undefined, one))));
  }

  #collect(client: string | undefined, name: string, seen: Set<string>): ScopeName[] {
    const key = keyOf(client, name);
    const role = this.#roles.get(key);
    if (seen.has(key) || !role) return [];
    seen.add(key);
    const indicator = client === undefined ? undefined : this.#indicators.get(client);
    const composites = role.part.get('composites');
    const contained: [string | undefined, string][] = [
      ...composites.texts('realm').map((one): [undefined, string] => [undefined, one]),
      ...composites
        .get('client')
        .entries()
        .flatMap(([of, names]) => asTexts(names).map((one): [string, string] => [of, one])),
    ];
    return [
      ...(indicator === undefined ? [] : [[indicator, name] as const]),
      ...contained.flatMap(([of, one]) => this.#collect(of, one, seen)),
    ];
  }

  /** The scopes of the roles that a user, or a service account, has. */
  scopesOfUser(user: Part): ScopeName[] {
    const seen = new Set<string>();
    return [
      ...user.texts('realmRoles').flatMap((name) => this.#collect(undefined, name, seen)),
      ...user
        .get('clientRoles')
        .entries()
        .flatMap(([client, names]) =>
          asTexts(names).flatMap((name) => this.#collect(client, name, seen)),
        ),
    ];
  }
}

const keyOf = (client: string | undefined, name: string) => JSON.stringify([client ?? null, name]);

const asTexts = ({ value }: Part): string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
