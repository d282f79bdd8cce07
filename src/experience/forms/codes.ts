import { secondsUntil } from '../../clock.ts';
import { masked, sendCode, verifyCode } from '../codes.ts';
import { addressPage, type CodePurpose, codePage } from '../pages/code.ts';
import { linkPage } from '../pages/stopped.ts';
import { newcomerOf } from '../steps.ts';
import { explanationOf } from './explanation.ts';
import type { Answer, FormPage, PageRequest } from './form-page.ts';
import { passkeyFrameOf } from './passkey.ts';
import { type AddressKind, frameOf, type Visit } from './visit.ts';

const addressPaths: Readonly<Record<CodePurpose, string>> = {
  SIGN_IN: '/code',
  REGISTER: '/register',
  RESET_PASSWORD: '/forgot-password',
};

const kindParameter = 'by';
const againParameter = 'again';

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

/** Shows the page that asks for an address of the chosen kind. */
export function showAddress(
  visit: Visit,
  purpose: CodePurpose,
  kinds: readonly AddressKind[],
  request: PageRequest,
  skip?: string,
): Answer {
  const { query, form, problem } = request;
  const kind = kinds.find((one) => one.toLowerCase() === query.get(kindParameter)) ?? kinds[0];
  if (kind === undefined) return { goTo: '?sign-in' };
  const other = kinds.find((one) => one !== kind);
  const path = addressPaths[purpose];
  const field = kind === 'EMAIL' ? 'email' : 'phone';
  const passkey = purpose === 'SIGN_IN' ? passkeyFrameOf(visit) : undefined;
  return {
    script: passkey?.script,
    markup: addressPage({
      ...frameOf(
        visit,
        pathTo(path, request, { [kindParameter]: kind.toLowerCase() }),
        problem?.text ?? (purpose === 'SIGN_IN' ? explanationOf(visit) : undefined),
      ),
      purpose,
      kind,
      otherKind:
        other === undefined || purpose === 'REGISTER'
          ? undefined
          : `${visit.base}${path}?${kindParameter}=${other.toLowerCase()}`,
      skip,
      value: form.get(field) ?? hintOf(visit, kind),
      faults: problem?.faults?.[field] ?? [],
      offersPassword: purpose === 'SIGN_IN' && visit.settings.passwordEnabled,
      passkey,
      providers:
        purpose === 'RESET_PASSWORD' || newcomerOf(visit.interaction) ? [] : visit.providers,
    }),
  };
}

/** The initial value of the field: an earlier entry of the person, or the application's `login_hint`. */
function hintOf({ interaction, parameters }: Visit, kind: AddressKind): string {
  const known = interaction.identifier ?? parameters['login_hint'];
  if (typeof known !== 'string') return '';
  return (kind === 'EMAIL') === known.includes('@') && (kind === 'EMAIL' || known.startsWith('+'))
    ? known
    : '';
}

/** Sends a code to the address in a form, and continues at the page that asks for the code. */
export async function submitAddress(
  visit: Visit,
  purpose: CodePurpose,
  request: PageRequest,
): Promise<Answer> {
  const { context, access } = visit;
  const { form } = request;
  const email = form.get('email');
  const phone = form.get('phone');
  const { verification } = await sendCode(context, access, { purpose, email, phone });
  const again: Record<string, string> = form.has('resend') ? { [againParameter]: 'yes' } : {};
  return { goTo: pathTo('/verify', request, { v: verification.id, ...again }) };
}

const addressForm = (
  purpose: Exclude<CodePurpose, 'REGISTER'>,
  kindsOf: (visit: Visit) => readonly AddressKind[],
): FormPage => ({
  path: addressPaths[purpose],
  wrong: (t) => t.problem.CODE,
  show: (visit, request) => showAddress(visit, purpose, kindsOf(visit), request),
  submit: (visit, request) => submitAddress(visit, purpose, request),
});

/** Asks for the address that a sign-in code is sent to. */
export const signInCodeForm = addressForm('SIGN_IN', ({ offered }) => offered.signIn);

/** Asks for the address of the account whose password is forgotten. */
export const recoveryForm = addressForm('RESET_PASSWORD', ({ offered }) => offered.recovery);

const findVerification = ({ interaction }: Visit, { query }: PageRequest) =>
  interaction.verifications.find(({ id }) => id === query.get('v'));

/** The step after a successful verification. */
function afterwards(purpose: CodePurpose, request: PageRequest): Answer {
  if (purpose === 'SIGN_IN') return 'signed-in';
  return { goTo: purpose === 'REGISTER' ? pathTo('/register', request) : '/new-password' };
}

/** Asks for the code. */
export const codeForm: FormPage = {
  path: '/verify',
  wrong: (t) => t.problem.CODE,
  show(visit, request) {
    const verification = findVerification(visit, request);
    if (!verification) return { goTo: '?sign-in' };
    const { id, purpose, type, verifiedAt, expiresAt } = verification;
    if (verifiedAt !== null && purpose !== 'SIGN_IN') return afterwards(purpose, request);
    const path = pathTo('/verify', request, { v: id });
    return {
      markup: codePage({
        ...frameOf(visit, path, request.problem?.text),
        recipient: masked(verification),
        ttlMinutes: Math.max(0, Math.ceil(secondsUntil(visit.context.clock, expiresAt) / 60)),
        isSentAgain: request.query.has(againParameter),
        resend: { action: `${visit.base}${path}`, csrfToken: visit.csrfToken },
        back: `${visit.base}${pathTo(addressPaths[purpose], request, { [kindParameter]: type.toLowerCase() })}`,
        offersPassword: purpose === 'SIGN_IN' && visit.settings.passwordEnabled,
      }),
    };
  },
  async submit(visit, request) {
    const verification = findVerification(visit, request);
    if (!verification) return { goTo: '?sign-in' };
    const { id, purpose, type, recipient } = verification;
    if (request.form.has('resend')) {
      const address = new URLSearchParams(request.form);
      address.set(type === 'EMAIL' ? 'email' : 'phone', recipient);
      return submitAddress(visit, purpose, { ...request, form: address });
    }
    const { context, access } = visit;
    await verifyCode(context, access, { verificationId: id, code: request.form.get('code') ?? '' });
    return afterwards(purpose, request);
  },
};

/** The page of a link in a message. In the browser that asked for the message, a click replaces typing the code. */
export const linkForm: FormPage = {
  path: '/link',
  wrong: (t) => t.problem.CODE,
  show(visit, request) {
    if (!findVerification(visit, request) || request.problem) return codeForm.show(visit, request);
    const path = `/link?${new URLSearchParams({ v: request.query.get('v') ?? '', code: request.query.get('code') ?? '' })}`;
    return { markup: linkPage(frameOf(visit, path)) };
  },
  submit: (visit, { query, ...request }) =>
    codeForm.submit(visit, {
      ...request,
      query,
      form: new URLSearchParams([['code', query.get('code') ?? '']]),
    }),
};
