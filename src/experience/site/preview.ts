import type { FastifyReply } from 'fastify';
import type { Language } from '../../languages.ts';
import { Html } from '../../markup.ts';
import type { VisitContext } from '../../services.ts';
import { withDraft } from '../../sign-in-experience/draft.ts';
import { readSignInExperience, type SignInExperience } from '../../sign-in-experience/settings.ts';
import { type Content, sendPicture } from '../../web/page.ts';
import type { Theme } from '../../web/style/style.ts';
import type { Interaction } from '../interaction.ts';
import { recoveryPage, signInCodePage } from '../pages/address.ts';
import { codePage } from '../pages/code.ts';
import { passkeyPage } from '../pages/passkey.ts';
import { registerPage } from '../pages/register.ts';
import { signInPage } from '../pages/sign-in.ts';
import { texts } from '../texts.ts';
import { type InteractionPage, type InteractionVisit, readOffers } from './visit.ts';

const pages: readonly InteractionPage[] = [
  signInPage,
  registerPage,
  codePage,
  signInCodePage,
  recoveryPage,
  passkeyPage,
];

const sentCode = 'sent';

/** The addresses of the pages that can be previewed. */
export const previews = {
  'sign-in': '',
  register: registerPage.path,
  recovery: recoveryPage.path,
  code: `${codePage.path}?v=${sentCode}`,
} as const;

/** A page to preview. */
export interface Preview {
  readonly page: keyof typeof previews;
  readonly language: Language;
  readonly theme: Theme;
  /** Settings that are not saved, as `updateSignInExperience` takes them. */
  readonly draft: unknown;
  /** The name of the application that the person signs in to. */
  readonly application: string;
}

/** Answers with a page of a sign-in that nobody has begun. It cannot be used: there is no interaction behind it. */
export async function sendPreview(
  context: VisitContext,
  reply: FastifyReply,
  preview: Preview,
): Promise<FastifyReply> {
  const { language, theme } = preview;
  const settings = withDraft(await readSignInExperience(context.database.prisma), preview.draft);
  const look = { branding: settings.branding, language, theme };
  const visit: InteractionVisit = {
    // Whoever looks at it has signed in here in some way, which is none of the picture.
    context: { ...context, visitor: { ...context.visitor, cookies: undefined } },
    settings,
    look,
    texts: texts[language],
    base: `${context.baseUrl}/sign-in/preview`,
    formSubject: 'preview',
    csrfToken: '',
    ...(await readOffers(context, settings)),
    access: { id: '', applicationId: '', uid: null },
    interaction: interactionOf(context, settings, preview.application),
    parameters: {},
    findSignedIn: async () => undefined,
  };
  return sendPicture(
    reply,
    look,
    stillOf(await contentAt(visit, previews[preview.page])),
    context.baseUrl,
  );
}

/** The page at an address, or where it leads under these settings. */
async function contentAt(visit: InteractionVisit, address: string, left = 4): Promise<Content> {
  const [path, query] = address.split('?');
  const page = pages.find((one) => one.path === path) ?? signInPage;
  const shown = await page.show(visit, {
    query: new URLSearchParams(query),
    form: new URLSearchParams(),
  });
  if ('body' in shown) return shown;
  if ('goTo' in shown && left > 0) return contentAt(visit, shown.goTo, left - 1);
  throw new Error(`The preview of ${address} shows no page.`);
}

// Nobody types there, and the script that shows the way by passkey cannot run there.
const stillOf = ({ body, ...content }: Content): Content => ({
  ...content,
  body: new Html(
    body.markup
      .replaceAll(' autofocus', '')
      .replace('data-passkey="get" hidden', 'data-passkey="get"'),
  ),
});

/** What the pages read of an interaction before the person is known. */
function interactionOf(
  { clock }: VisitContext,
  { codePolicy, signInIdentifiers }: SignInExperience,
  application: string,
): Interaction {
  const type = signInIdentifiers.includes('EMAIL') ? 'EMAIL' : 'PHONE';
  const known = {
    event: 'SIGN_IN',
    userId: null,
    identifier: null,
    error: null,
    newcomer: null,
    application: { name: application },
    verifications: [
      {
        id: sentCode,
        purpose: 'SIGN_IN',
        type,
        recipient: type === 'EMAIL' ? 'ada@example.com' : '+4915123456789',
        verifiedAt: null,
        expiresAt: new Date(clock.now().getTime() + codePolicy.ttlSeconds * 1000),
      },
    ],
  };
  // No row is behind it; the pages above read nothing else.
  return known as unknown as Interaction;
}
