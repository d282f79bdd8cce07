import { basename, extname } from 'node:path';
import type { Part } from '../part.ts';

/** The answers of Logto's management API, under the names of its routes: `sign-in-exp` is `signInExp`. */
export type Sections = ReadonlyMap<string, readonly Part[]>;

const camelCase = (route: string) =>
  route.replaceAll(/[-_]([a-z])/g, (_match, letter: string) => letter.toUpperCase());

/** Sorts an export: one file with a field for each route, or a file of each route that is named for it. */
export function sectionsOf(files: readonly Part[]): Sections {
  const sections = new Map<string, Part[]>();
  const add = (route: string, part: Part) => {
    const parts = Array.isArray(part.value) ? part.items() : [part];
    sections.set(camelCase(route), (sections.get(camelCase(route)) ?? []).concat(parts));
  };
  for (const file of files) {
    const route = basename(file.place, extname(file.place));
    if (camelCase(route) === 'signInExp') add(route, file);
    else if (!Array.isArray(file.value)) {
      for (const [field, part] of file.entries()) add(field, part);
    } else if (file.items().some(isUser)) add('users', file);
    else add(route, file);
  }
  return sections;
}

const isUser = (part: Part) =>
  ['primaryEmail', 'primary_email', 'passwordEncrypted', 'password_encrypted'].some((field) =>
    part.has(field),
  );
