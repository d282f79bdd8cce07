import { hasEnterpriseProviders, listSocialProviders } from '../../identity-providers/choice.ts';
import { canSend } from '../../messages/queue-message.ts';
import { findUserByAddress } from '../../proving/codes.ts';
import type { InteractionAccess, Services, VisitContext } from '../../services.ts';
import type { IdentifierType, SignInExperience } from '../../sign-in-experience/settings.ts';
import type { Page } from '../../web/site.ts';
import { openVisit, type Visit } from '../../web/visit.ts';
import type { BrowserInteraction } from '../access/browser.ts';
import { type Interaction, readInteraction } from '../interaction.ts';
import { type InteractionStep, recoveredAddress } from '../steps.ts';
import { type Texts, texts } from '../texts.ts';

/** A kind of address that codes are sent to. */
export type AddressKind = Exclude<IdentifierType, 'USERNAME'>;

/** One request of a browser to the pages of its interaction. */
export interface InteractionVisit extends Visit<VisitContext, Texts> {
  readonly access: InteractionAccess;
  readonly interaction: Interaction;
  /** The parameters of the authorization request. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Whom the browser is signed in as now, which another tab may have done since this interaction began. */
  readonly findSignedIn: () => Promise<string | undefined>;
  /** The kinds of addresses that each purpose can use. */
  readonly offered: {
    readonly signIn: readonly AddressKind[];
    readonly recovery: readonly AddressKind[];
    readonly signUp: readonly AddressKind[];
  };
  /** The identity providers that anybody can continue with. */
  readonly providers: readonly {
    readonly id: string;
    readonly name: string;
    readonly issuer: string;
  }[];
  /** Whether the first page asks for the identifier alone: the domain of an address may lead to an identity provider. */
  readonly asksIdentifierFirst: boolean;
  /** Whether a new person can create an account. */
  readonly offersSignUp: boolean;
}

/** One page of an interaction. */
export interface InteractionPage extends Page<InteractionVisit> {
  /** The step that this page is for; absent for pages before the person is known. */
  readonly step?: InteractionStep;
  /** Whether a known person may use this page although it is for none of the next steps. */
  readonly isOpen?: (visit: InteractionVisit) => boolean;
}

const kinds: readonly AddressKind[] = ['EMAIL', 'PHONE'];

/** Reads the data that the pages of an interaction need. */
export async function openInteractionVisit(
  context: VisitContext,
  { access, request: { uid, params } }: BrowserInteraction,
  findSignedIn: InteractionVisit['findSignedIn'],
): Promise<InteractionVisit> {
  const interaction = await readInteraction(context, access);
  const userId = await findPersonId(context, interaction);
  const site = { path: `/sign-in/${uid}`, userId, texts, formSubject: uid };
  const visit = await openVisit(context, site);
  return {
    ...visit,
    ...(await readOffers(context, visit.settings)),
    access,
    interaction,
    parameters: params,
    findSignedIn,
  };
}

/** Whom the pages are for: who signs in, or has shown by a code that a forgotten password is theirs. */
async function findPersonId(
  context: VisitContext,
  interaction: Interaction,
): Promise<string | null> {
  if (interaction.userId !== null) return interaction.userId;
  const shown = recoveredAddress(context, interaction);
  if (!shown) return null;
  return (await findUserByAddress(context.database.prisma, shown))?.id ?? null;
}

/** What the pages offer under these settings, as far as it does not depend on the person. */
export async function readOffers(
  context: Services,
  settings: SignInExperience,
): Promise<
  Pick<InteractionVisit, 'offered' | 'providers' | 'asksIdentifierFirst' | 'offersSignUp'>
> {
  const { prisma } = context.database;
  const sendable = await sendableKinds(context);
  const [required] = settings.signUpIdentifiers;
  return {
    offered: {
      signIn: settings.codeEnabled
        ? sendable.filter((kind) => settings.signInIdentifiers.includes(kind))
        : [],
      recovery: settings.passwordEnabled ? sendable : [],
      signUp: sendable.filter((kind) => settings.signUpIdentifiers.includes(kind)),
    },
    providers: await listSocialProviders(prisma),
    asksIdentifierFirst: await hasEnterpriseProviders(prisma),
    offersSignUp:
      settings.signUpEnabled &&
      (required === 'USERNAME'
        ? settings.passwordEnabled
        : sendable.some((kind) => kind === required)),
  };
}

async function sendableKinds(services: Services): Promise<AddressKind[]> {
  const can = await Promise.all(
    kinds.map((kind) => canSend(services, kind === 'EMAIL' ? 'EMAIL' : 'SMS')),
  );
  return kinds.filter((_kind, i) => can[i]);
}

/** Why an identity provider sent the person back, in the page's language. */
export function federationProblem({ interaction, texts: t }: InteractionVisit): string | undefined {
  const { error, newcomer, identifier } = interaction;
  return error === null ? undefined : t.federation[error]?.(newcomer?.email ?? identifier);
}
