import { VerificationFailedError } from '../../errors.ts';
import { html } from '../../markup.ts';
import { accountOfPassword, newPasswordField } from '../../web/fields.ts';
import { doneNote, form, submit } from '../../web/form.ts';
import type { Answer, PageRequest } from '../../web/site.ts';
import { formAt } from '../../web/visit.ts';
import { register } from '../register.ts';
import { cancel, otherWays, signInInstead, termsNote, usernameField } from '../site/controls.ts';
import { leadOn } from '../site/next-page.ts';
import type { AddressKind, InteractionPage, InteractionVisit } from '../site/visit.ts';
import { missingForSignUp, newcomerOf, verified } from '../steps.ts';
import { pathTo, showAddress, submitAddress, withoutParameter } from './address.ts';

const path = '/register';

/** Creates an account. Asks for its addresses one by one, then for user name and password. */
export const registerPage: InteractionPage = {
  path,
  wrong: ({ texts: t }) => t.wrong.CODE,
  show(visit, request) {
    const isNewcomer = newcomerOf(visit.interaction) !== null;
    if (!visit.offersSignUp && !isNewcomer) return { goTo: '?sign-in' };
    const missing = isNewcomer ? missingOfNewcomer(visit) : missingAddress(visit, request);
    if (missing !== undefined) {
      const skipUrl = urlWithout(visit, request, missing);
      return showAddress(visit, 'REGISTER', [missing], request, skipUrl);
    }
    return isNewcomer ? { goTo: '/profile' } : showRegister(visit, request);
  },
  async submit(visit, request) {
    const { form: sent } = request;
    if (sent.has('email') || sent.has('phone')) return submitAddress(visit, 'REGISTER', request);
    const { context, access, interaction } = visit;
    // A verified code may have expired since the page was opened.
    if (!newcomerOf(interaction) && missingAddress(visit, request))
      throw new VerificationFailedError();
    await register(context, access, {
      username: sent.get('username') || null,
      password: sent.get('password') || null,
      verificationIds: verified(context, interaction, 'REGISTER').map(({ id }) => id),
    });
    return leadOn(visit);
  },
};

function showRegister(visit: InteractionVisit, request: PageRequest): Answer {
  const { texts: t, context, interaction, settings } = visit;
  const { signUpIdentifiers } = settings;
  const asksUsername = signUpIdentifiers.includes('USERNAME');
  const addresses = verified(context, interaction, 'REGISTER').map(({ recipient }) => recipient);
  const isCalm = request.problem === undefined;
  const fields = html`${
    asksUsername && usernameField(visit, request, signUpIdentifiers[0] === 'USERNAME')
  }${!asksUsername && addresses[0] !== undefined && accountOfPassword(addresses[0])}${
    settings.passwordEnabled &&
    newPasswordField(visit, request, { label: t.password, autofocus: isCalm && !asksUsername })
  }
${submit(t.createAccount)}`;
  return {
    heading: t.createAccount,
    lead: t.toContinueTo(interaction.application.name),
    body: html`${isCalm && addresses.map((address) => doneNote(t.verified(address)))}${form(
      formAt(visit, pathTo(path, request)),
      fields,
    )}${termsNote(visit)}${otherWays(visit, { hasProviders: true, hasPasskeys: false, links: [] })}${signInInstead(visit)}${cancel(visit)}`,
  };
}

/**
 * The kind of address that a sign-up asks for next: the required one first, then the others that the person has not
 * skipped.
 */
function missingAddress(
  { context, interaction, settings, offered }: InteractionVisit,
  { query }: PageRequest,
): AddressKind | undefined {
  const shown = verified(context, interaction, 'REGISTER').map(({ type }) => type);
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

/** The kind of address that an identity provider should have told, but did not. */
const missingOfNewcomer = ({
  context,
  interaction,
  settings,
}: InteractionVisit): AddressKind | undefined =>
  missingForSignUp(context, interaction, settings).find((field) => field !== 'USERNAME');

/** The URL that skips this kind of address; undefined if the kind is required. */
function urlWithout(
  { settings, base }: InteractionVisit,
  { query }: PageRequest,
  kind: AddressKind,
): string | undefined {
  if (settings.signUpIdentifiers[0] === kind) return undefined;
  const skipped = [query.get(withoutParameter), kind.toLowerCase()].filter((one) => one !== null);
  return `${base}${path}?${withoutParameter}=${skipped.join(',')}`;
}
