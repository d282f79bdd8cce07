import { type Html, html } from '../../markup.ts';
import { ways } from '../../web/entries.ts';
import { field, form, submit } from '../../web/form.ts';
import type { Answer, PageRequest } from '../../web/site.ts';
import { formAt } from '../../web/visit.ts';
import { sendCode } from '../codes.ts';
import {
  cancel,
  offersPasskeys,
  otherWays,
  passkeyPath,
  passkeyScriptAt,
  signInInstead,
} from '../site/controls.ts';
import {
  type AddressKind,
  federationProblem,
  type InteractionPage,
  type InteractionVisit,
} from '../site/visit.ts';
import { newcomerOf } from '../steps.ts';
import type { Texts } from '../texts.ts';

/** The purpose of a code. */
type CodePurpose = InteractionVisit['interaction']['verifications'][number]['purpose'];

/** The page that asks for the address, by the purpose of the code that goes there. */
export const addressPaths: Readonly<Record<CodePurpose, string>> = {
  SIGN_IN: '/code',
  REGISTER: '/register',
  RESET_PASSWORD: '/forgot-password',
};

/** The query parameter with the kind of address to ask for. */
export const kindParameter = 'by';

/** The query parameter that says that a code was sent again. */
export const againParameter = 'again';

/** The query parameter with the kinds of addresses that the person skipped. */
export const withoutParameter = 'without';

/** The path of a page, with the query parameters that the pages of a sign-up pass on. */
export function pathTo(
  path: string,
  { query }: PageRequest,
  added: Record<string, string> = {},
): string {
  const without = query.get(withoutParameter);
  const parameters = new URLSearchParams(added);
  if (without !== null) parameters.set(withoutParameter, without);
  return parameters.size > 0 ? `${path}?${parameters}` : path;
}

const wordsOf = (t: Texts, purpose: CodePurpose) =>
  ({
    SIGN_IN: { heading: t.signInByCode, lead: t.signInByCodeLead },
    REGISTER: { heading: t.createAccount, lead: t.registerLead },
    RESET_PASSWORD: { heading: t.resetPassword, lead: t.resetPasswordLead },
  })[purpose];

/**
 * Shows the page that asks where to send a code.
 *
 * @param kinds The kinds of addresses that the person can choose from.
 * @param skipUrl The URL that skips the address; absent if an address is required.
 */
export function showAddress(
  visit: InteractionVisit,
  purpose: CodePurpose,
  kinds: readonly AddressKind[],
  request: PageRequest,
  skipUrl?: string,
): Answer {
  const { texts: t, base, settings } = visit;
  const kind =
    kinds.find((one) => one.toLowerCase() === request.query.get(kindParameter)) ?? kinds[0];
  if (kind === undefined) return { goTo: '?sign-in' };
  const other = purpose === 'REGISTER' ? undefined : kinds.find((one) => one !== kind);
  const path = addressPaths[purpose];
  const isSignIn = purpose === 'SIGN_IN';
  const problem = request.problem?.text ?? (isSignIn ? federationProblem(visit) : undefined);
  const hasPasskeys = isSignIn && offersPasskeys(visit);
  const hasProviders = purpose !== 'RESET_PASSWORD' && !newcomerOf(visit.interaction);
  const links = [
    other !== undefined && {
      url: `${base}${path}?${kindParameter}=${other.toLowerCase()}`,
      text: other === 'PHONE' ? t.usePhone : t.useEmail,
    },
    isSignIn &&
      settings.passwordEnabled && { id: 'password', url: `${base}?sign-in`, text: t.usePassword },
    skipUrl !== undefined && { url: skipUrl, text: t.notNow },
  ];
  const others = isSignIn
    ? otherWays(visit, { hasProviders, hasPasskeys, links })
    : html`${ways(links)}${otherWays(visit, { hasProviders, hasPasskeys, links: [] })}`;
  const frame = formAt(visit, pathTo(path, request, { [kindParameter]: kind.toLowerCase() }));
  const address = addressField(visit, request, kind, { hasPasskeys, problem });
  return {
    ...wordsOf(t, purpose),
    problem,
    script: hasPasskeys ? passkeyScriptAt(visit, passkeyPath) : undefined,
    body: html`${form(frame, html`${address}${submit(t.sendCode)}`)}${others}${
      purpose === 'REGISTER' && signInInstead(visit)
    }${cancel(visit)}`,
  };
}

function addressField(
  visit: InteractionVisit,
  request: PageRequest,
  kind: AddressKind,
  { hasPasskeys, problem }: { hasPasskeys: boolean; problem: string | undefined },
): Html {
  const { texts: t } = visit;
  const name = kind === 'EMAIL' ? 'email' : 'phone';
  const type = kind === 'EMAIL' ? 'email' : 'tel';
  return field({
    name,
    label: t[name],
    type,
    autocomplete: hasPasskeys ? `${type} webauthn` : type,
    ...(kind === 'PHONE' && { hint: t.phoneHint }),
    value: request.form.get(name) ?? hintOf(visit, kind),
    faults: request.problem?.faults?.[name],
    autofocus: problem === undefined,
    isProblem: problem !== undefined,
  });
}

/** The initial value of the field: an earlier entry of the person, or the application's `login_hint`. */
function hintOf({ interaction, parameters }: InteractionVisit, kind: AddressKind): string {
  const known = interaction.identifier ?? parameters['login_hint'];
  if (typeof known !== 'string') return '';
  return (kind === 'EMAIL') === known.includes('@') && (kind === 'EMAIL' || known.startsWith('+'))
    ? known
    : '';
}

/** Sends a code to the address in a form, and continues at the page that asks for the code. */
export async function submitAddress(
  { context, access }: InteractionVisit,
  purpose: CodePurpose,
  request: PageRequest,
): Promise<Answer> {
  const { form: sent } = request;
  const address = { email: sent.get('email'), phone: sent.get('phone') };
  const { verification } = await sendCode(context, access, { purpose, ...address });
  const again: Record<string, string> = sent.has('resend') ? { [againParameter]: 'yes' } : {};
  return {
    goTo: pathTo('/verify', request, { v: verification.id, ...again }),
    standsSeconds: 0,
  };
}

const addressPage = (
  purpose: Exclude<CodePurpose, 'REGISTER'>,
  kindsOf: (visit: InteractionVisit) => readonly AddressKind[],
): InteractionPage => ({
  path: addressPaths[purpose],
  wrong: ({ texts: t }) => t.wrong.CODE,
  show: (visit, request) => showAddress(visit, purpose, kindsOf(visit), request),
  submit: (visit, request) => submitAddress(visit, purpose, request),
});

/** Asks for the address that a sign-in code is sent to. */
export const signInCodePage = addressPage('SIGN_IN', ({ offered }) => offered.signIn);

/** Asks for the address of the account whose password is forgotten. */
export const recoveryPage = addressPage('RESET_PASSWORD', ({ offered }) => offered.recovery);
