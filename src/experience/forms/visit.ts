import type { Look } from '../../html/page.ts';
import { hasEnterpriseProviders, listSocialProviders } from '../../identity-providers/choice.ts';
import { canSend } from '../../messages/queue-message.ts';
import type { InteractionAccess, Services, VisitContext } from '../../services.ts';
import {
  type IdentifierType,
  readSignInExperience,
  type SignInExperience,
} from '../../sign-in-experience/settings.ts';
import type { BrowserInteraction } from '../access/browser.ts';
import { formTokenOf } from '../access/form-token.ts';
import { languageOf } from '../access/visitor.ts';
import { type Interaction, readInteraction } from '../interaction.ts';
import type { ProviderChoice } from '../pages/providers.ts';
import type { PageFrame } from '../pages/sign-in.ts';
import { type Texts, texts } from '../pages/texts.ts';

/** A kind of address that codes are sent to. */
export type AddressKind = Exclude<IdentifierType, 'USERNAME'>;

/** One request of a browser to the pages of its interaction. */
export interface Visit {
  readonly context: VisitContext;
  readonly access: InteractionAccess;
  readonly interaction: Interaction;
  readonly settings: SignInExperience;
  /** The parameters of the authorization request. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** The URL of the interaction's first page. The other pages are below it. */
  readonly base: string;
  readonly csrfToken: string;
  readonly look: Look;
  readonly texts: Texts;
  /** The kinds of addresses that each purpose can use. */
  readonly offered: {
    readonly signIn: readonly AddressKind[];
    readonly recovery: readonly AddressKind[];
    readonly signUp: readonly AddressKind[];
  };
  /** The identity providers that anybody can continue with. */
  readonly providers: readonly ProviderChoice[];
  /** Whether the first page asks for the identifier alone: the domain of an address may lead to an identity provider. */
  readonly asksIdentifierFirst: boolean;
  /** Whether a new person can create an account. */
  readonly offersSignUp: boolean;
}

const kinds: readonly AddressKind[] = ['EMAIL', 'PHONE'];

/** Reads the data that the pages of an interaction need. */
export async function openVisit(
  context: VisitContext,
  { access, request: { uid, params } }: BrowserInteraction,
): Promise<Visit> {
  const settings = await readSignInExperience(context.database.prisma);
  const interaction = await readInteraction(context, access);
  const sendable = await sendableKinds(context);
  const language = languageOf(context, settings);
  const [required] = settings.signUpIdentifiers;
  return {
    context,
    access,
    interaction,
    settings,
    parameters: params,
    base: `${context.baseUrl}/sign-in/${uid}`,
    csrfToken: formTokenOf(context, uid),
    look: { branding: settings.branding, language },
    texts: texts[language],
    offered: {
      signIn: settings.codeEnabled
        ? sendable.filter((kind) => settings.signInIdentifiers.includes(kind))
        : [],
      recovery: settings.passwordEnabled ? sendable : [],
      signUp: sendable.filter((kind) => settings.signUpIdentifiers.includes(kind)),
    },
    providers: await listSocialProviders(context.database.prisma),
    asksIdentifierFirst: await hasEnterpriseProviders(context.database.prisma),
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

/** The data that every page of a visit needs. */
export const frameOf = (visit: Visit, path: string, problem?: string | undefined): PageFrame => ({
  look: visit.look,
  application: visit.interaction.application.name,
  base: visit.base,
  action: `${visit.base}${path}`,
  csrfToken: visit.csrfToken,
  problem,
});
