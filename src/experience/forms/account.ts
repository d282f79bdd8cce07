import { newPasswordPage, registerPage } from '../pages/account.ts';
import { resetPassword } from '../recover.ts';
import { register } from '../register.ts';
import { missingForSignUp, newcomerOf, verified } from '../steps.ts';
import { pathTo, showAddress, submitAddress, withoutParameter } from './codes.ts';
import type { FormPage, PageRequest } from './form-page.ts';
import { type AddressKind, frameOf, type Visit } from './visit.ts';

/**
 * The kind of address that a sign-up asks for next: the required one first, then the others that the person has not
 * skipped.
 */
function missingAddress(visit: Visit, { query }: PageRequest): AddressKind | undefined {
  const { interaction, settings, offered } = visit;
  const shown = verified(interaction, 'REGISTER').map(({ type }) => type);
  const skipped = (query.get(withoutParameter) ?? '').split(',');
  return settings.signUpIdentifiers
    .filter((one) => one !== 'USERNAME')
    .find(
      (kind) =>
        offered.signUp.includes(kind) &&
        !shown.includes(kind) &&
        (kind === settings.signUpIdentifiers[0] || !skipped.includes(kind.toLowerCase())),
    );
}

/** The address that somebody needs whom an identity provider has sent without a verified one. */
const missingOfNewcomer = ({ interaction, settings }: Visit): AddressKind | undefined =>
  missingForSignUp(interaction, settings).find((field) => field !== 'USERNAME');

/** The URL that skips this kind of address; undefined if the kind is required. */
function withoutIt(visit: Visit, { query }: PageRequest, kind: AddressKind): string | undefined {
  if (visit.settings.signUpIdentifiers[0] === kind) return undefined;
  const skipped = [query.get(withoutParameter), kind.toLowerCase()].filter((one) => one !== null);
  return `${visit.base}/register?${withoutParameter}=${skipped.join(',')}`;
}

const isAddress = ({ form }: PageRequest) => form.has('email') || form.has('phone');

/** Creates an account. Asks for its addresses one by one, then for user name and password. */
export const registerForm: FormPage = {
  path: '/register',
  wrong: (t) => t.problem.CODE,
  show(visit, request) {
    const isNewcomer = newcomerOf(visit.interaction) !== null;
    if (!visit.offersSignUp && !isNewcomer) return { goTo: '?sign-in' };
    const missing = isNewcomer ? missingOfNewcomer(visit) : missingAddress(visit, request);
    if (missing !== undefined && (!request.problem || isAddress(request)))
      return showAddress(visit, 'REGISTER', [missing], request, withoutIt(visit, request, missing));
    if (isNewcomer) return { goTo: '/profile' };
    const { settings, interaction } = visit;
    const { form, problem } = request;
    return {
      markup: registerPage({
        ...frameOf(visit, pathTo('/register', request), problem?.text),
        asksUsername: settings.signUpIdentifiers.includes('USERNAME'),
        needsUsername: settings.signUpIdentifiers[0] === 'USERNAME',
        asksPassword: settings.passwordEnabled,
        username: form.get('username') ?? '',
        usernameFaults: problem?.faults?.['username'] ?? [],
        verified: verified(interaction, 'REGISTER').map(({ recipient }) => recipient),
        minLength: settings.passwordPolicy.minLength,
        passwordFaults: problem?.passwordFaults ?? [],
        providers: visit.providers,
      }),
    };
  },
  async submit(visit, request) {
    const { form } = request;
    if (isAddress(request)) return submitAddress(visit, 'REGISTER', request);
    const { context, access, interaction } = visit;
    await register(context, access, {
      username: form.get('username') || null,
      password: form.get('password') || null,
      verificationIds: verified(interaction, 'REGISTER').map(({ id }) => id),
    });
    return 'signed-in';
  },
};

/** Asks for a new password, after a code has proved whose account it is. */
export const newPasswordForm: FormPage = {
  path: '/new-password',
  wrong: (t) => t.problem.CODE,
  show(visit, { problem }) {
    const [verification] = verified(visit.interaction, 'RESET_PASSWORD');
    if (!verification) return { goTo: '/forgot-password' };
    return {
      markup: newPasswordPage({
        ...frameOf(visit, '/new-password', problem?.text),
        account: verification.recipient,
        minLength: visit.settings.passwordPolicy.minLength,
        passwordFaults: problem?.passwordFaults ?? [],
      }),
    };
  },
  async submit({ context, access }, { form }) {
    await resetPassword(context, access, { password: form.get('password') ?? '' });
    return 'signed-in';
  },
};
