import { accountApplicationId } from '../../applications/built-in.ts';
import type { EventName } from '../../events/catalogue/catalogue.ts';
import { type LoggedEvent, readEvents } from '../../events/log.ts';
import type { Html } from '../../markup.ts';
import { dateIn, entry } from '../../web/entries.ts';
import { deviceName } from './device.ts';
import type { AccountVisit } from './visit.ts';

const told = [
  'PostRegister',
  'PostSignIn',
  'PostResetPassword',
  'User.Session.Ended',
  'User.Credential.Updated',
  'User.Grant.Created',
  'User.Grant.Revoked',
  'User.Data.Updated',
] as const satisfies readonly EventName[];

/** What people sign in with beside their credentials, by the field of the user. */
const identifiers = ['username', 'primaryEmail', 'primaryPhone'] as const;

const textIn = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/**
 * Reads what happened to the account last, newest first: sign-ins, and changes of what gives access to it.
 *
 * @param most How many entries to read. A profile that was changed is none, so there may be fewer.
 * @returns Entries of a list.
 */
export async function readActivity(visit: AccountVisit, most: number): Promise<readonly Html[]> {
  const { prisma } = visit.context.database;
  const events = await readEvents(prisma, {
    filter: { types: told, subjectId: visit.user.id },
    take: 2 * most,
    fromEnd: true,
  });
  const ids = events.flatMap(({ data }) => textIn(data['applicationId']) ?? []);
  const applications = await prisma.application.findMany({
    where: { id: { in: ids } },
    select: { id: true, name: true },
  });
  const names = new Map(applications.map(({ id, name }) => [id, name]));
  return events
    .toReversed()
    .flatMap((event) => {
      const sentence = sentenceOf(visit, event, names);
      return sentence === undefined ? [] : [entry(sentence, placeOf(visit, event))];
    })
    .slice(0, most);
}

/** An event in words; undefined for one that changed nothing about who can sign in. */
function sentenceOf(
  { texts: { activity: t } }: AccountVisit,
  { type, data }: LoggedEvent,
  names: ReadonlyMap<string, string>,
): string | undefined {
  const id = textIn(data['applicationId']);
  const application = names.get(id ?? '') ?? t.someApplication;
  switch (type) {
    case 'PostRegister':
      return t.registered;
    case 'PostSignIn':
      return id === null || id === accountApplicationId ? t.signedIn : t.signedInTo(application);
    case 'PostResetPassword':
      return t.recovered;
    case 'User.Session.Ended':
      return data['reason'] === 'SIGN_OUT' ? t.signedOut : t.deviceSignedOut;
    case 'User.Credential.Updated': {
      const credential = t.credentials[String(data['credential'])];
      const change = t.changes[String(data['change'])];
      const name = textIn(data['name']);
      return credential && change && `${credential(name)} ${change}.`;
    }
    case 'User.Grant.Created':
      return t.allowed(application);
    case 'User.Grant.Revoked':
      return t.revoked(application);
    default: {
      const changes = Object(data['changes']);
      const changed = identifiers.find((one) => Object.hasOwn(changes, one));
      return changed && t.identifiers[changed];
    }
  }
}

/** When it was and from where; or that it was not the person, without saying from where others work. */
function placeOf(visit: AccountVisit, event: LoggedEvent): readonly string[] {
  const { texts: t, user } = visit;
  const { actor, data } = event;
  const at = dateIn(visit, event.occurredAt);
  if (actor?.id !== user.id) return actor?.type === 'SYSTEM' ? [at] : [t.activity.byOthers, at];
  const ip = textIn(data['ip']) ?? event.ip;
  const device = deviceName(t, textIn(data['userAgent']) ?? event.userAgent);
  return [ip === null ? device : `${device}, ${ip}`, at];
}
