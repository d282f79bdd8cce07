import { isElsewhere } from '../../identity-providers/choice.ts';
import { openOneTimeToken } from '../../oidc/provider/sign-in-parameters.ts';
import { changeInteraction, updateInteraction } from '../interaction.ts';
import { redeemOneTimeToken } from '../one-time-link.ts';
import { oneTimeLinkPage, signInPage } from '../pages/sign-in.ts';
import { signInWithPassword } from '../password.ts';
import { newcomerOf, verified } from '../steps.ts';
import { explanationOf } from './explanation.ts';
import { leaveFor } from './federation.ts';
import type { FormPage } from './form-page.ts';
import { passkeyFrameOf } from './passkey.ts';
import { frameOf, type Visit } from './visit.ts';

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The first page. It asks for an identifier and the password. */
export const passwordForm: FormPage = {
  path: '',
  wrong: (t) => t.problem.CREDENTIALS,
  show(visit, { form, problem, query }) {
    const { settings, parameters, interaction, offered, offersSignUp } = visit;
    if (!problem && !query.has('sign-in')) {
      if (hasOneTimeToken(visit)) return { goTo: '/one-time-link' };
      if (interaction.event === 'REGISTER' && offersSignUp) return { goTo: '/register' };
    }
    const problemText = problem?.text ?? explanationOf(visit);
    const asksPassword =
      settings.passwordEnabled &&
      (!visit.asksIdentifierFirst || form.has('password') || query.has('password'));
    if (!settings.passwordEnabled && !visit.asksIdentifierFirst && offered.signIn.length > 0)
      return { goTo: '/code' };
    const passkey = passkeyFrameOf(visit);
    const isAlone = !settings.passwordEnabled && !visit.asksIdentifierFirst;
    if (passkey && isAlone && visit.providers.length === 0) return { goTo: '/passkey' };
    return {
      script: passkey?.script,
      markup: signInPage({
        ...frameOf(visit, '', problemText),
        isRefused: problem !== undefined,
        asksPassword,
        providers: visit.providers,
        identifiers: settings.signInIdentifiers,
        identifier:
          form.get('identifier') ?? interaction.identifier ?? textOf(parameters['login_hint']),
        offersCode: offered.signIn.length > 0,
        offersRecovery: offered.recovery.length > 0,
        offersSignUp,
        passkey,
      }),
    };
  },
  async submit(visit, { form }) {
    const { context, access, settings, offered } = visit;
    const identifier = form.get('identifier') ?? '';
    const newcomer = newcomerOf(visit.interaction, identifier.trim());
    if (await isElsewhere(context.database.prisma, identifier, newcomer))
      return leaveFor(visit, { email: identifier });
    // Where the page asks for both at once, a missing password is a wrong one.
    if (!form.has('password') && (visit.asksIdentifierFirst || !settings.passwordEnabled)) {
      const shown = identifier.slice(0, 320).toWellFormed().replaceAll('\0', '');
      await changeInteraction(context, access, (tx, interaction) =>
        updateInteraction(tx, interaction, { identifier: shown }),
      );
      return {
        goTo: settings.passwordEnabled || offered.signIn.length === 0 ? '?password' : '/code',
      };
    }
    await signInWithPassword(context, access, { identifier, password: form.get('password') ?? '' });
    return 'signed-in';
  },
};

/** The page of a one-time token that the application sent with the request. A click redeems it. */
export const oneTimeLinkForm: FormPage = {
  path: '/one-time-link',
  wrong: (t) => t.problem.LINK,
  show(visit, { form, problem }) {
    if (!hasOneTimeToken(visit)) return { goTo: '?sign-in' };
    if (verified(visit.interaction, 'REGISTER').length > 0) return { goTo: '/register' };
    return {
      markup: oneTimeLinkPage({
        ...frameOf(visit, '/one-time-link', problem?.text),
        asksEmail: hintedEmail(visit) === undefined,
        email: form.get('email') ?? '',
      }),
    };
  },
  async submit(visit, { form }) {
    const { context, access, parameters } = visit;
    const { userId } = await redeemOneTimeToken(context, access, {
      email: hintedEmail(visit) ?? form.get('email') ?? '',
      token: openOneTimeToken(context, parameters) ?? '',
    });
    // The address is verified now, and no account has it yet.
    return userId === null ? { goTo: '/register' } : 'signed-in';
  },
};

const hasOneTimeToken = ({ parameters }: Visit) => textOf(parameters['one_time_token']) !== '';

/** The address that the token is for, if the application's `login_hint` names it. */
function hintedEmail({ parameters }: Visit): string | undefined {
  const hint = textOf(parameters['login_hint']);
  return hint.includes('@') ? hint : undefined;
}
