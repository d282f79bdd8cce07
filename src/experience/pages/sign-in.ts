import { isElsewhere } from '../../identity-providers/choice.ts';
import { html } from '../../markup.ts';
import { withoutSpaceAround } from '../../text/typed.ts';
import { field, form, submit } from '../../web/form.ts';
import type { Answer, PageRequest } from '../../web/site.ts';
import { formAt } from '../../web/visit.ts';
import { moveInteraction, updateInteraction } from '../interaction.ts';
import { signInWithPassword } from '../password.ts';
import {
  cancel,
  offersPasskeys,
  otherWays,
  passkeyPath,
  passkeyScriptAt,
} from '../site/controls.ts';
import { withWay } from '../site/last-way.ts';
import { leadOn } from '../site/next-page.ts';
import { federationProblem, type InteractionPage, type InteractionVisit } from '../site/visit.ts';
import { newcomerOf } from '../steps.ts';
import type { Texts } from '../texts.ts';
import { leaveFor } from './federation.ts';
import { hasOneTimeToken } from './one-time-link.ts';

/** Signs in by an identifier and the password. The identifier may lead to another way. */
export const signInPage: InteractionPage = {
  path: '',
  wrong: ({ texts: t, settings }) =>
    t.wrong.CREDENTIALS(settings.signInIdentifiers.map((one) => t.identifier[one]).join(', ')),
  show: (visit, request) => otherPage(visit, request) ?? showSignIn(visit, request),
  async submit(visit, { form: sent }) {
    const { context, access, settings, offered } = visit;
    const identifier = sent.get('identifier') ?? '';
    const newcomer = newcomerOf(visit.interaction, withoutSpaceAround(identifier));
    if (await isElsewhere(context.database.prisma, identifier, newcomer))
      return leaveFor(visit, { email: identifier });
    // Where the page asks for both at once, a missing password is a wrong one.
    if (!sent.has('password') && (visit.asksIdentifierFirst || !settings.passwordEnabled)) {
      const shown = identifier.slice(0, 320).toWellFormed().replaceAll('\0', '');
      await moveInteraction(context, access, (tx, interaction) =>
        updateInteraction(tx, interaction, { identifier: shown }),
      );
      return {
        goTo: settings.passwordEnabled || offered.signIn.length === 0 ? '?password' : '/code',
      };
    }
    await signInWithPassword(context, access, { identifier, password: sent.get('password') ?? '' });
    return withWay(visit, await leadOn(visit), 'password');
  },
};

/** The page to begin at instead of the first; undefined for the first. */
function otherPage(visit: InteractionVisit, { query, problem }: PageRequest): Answer | undefined {
  const { settings, interaction, offered } = visit;
  if (!problem && !query.has('sign-in')) {
    if (hasOneTimeToken(visit)) return { goTo: '/one-time-link' };
    if (interaction.event === 'REGISTER' && visit.offersSignUp) return { goTo: '/register' };
  }
  if (settings.passwordEnabled || visit.asksIdentifierFirst) return undefined;
  if (offered.signIn.length > 0) return { goTo: '/code' };
  const isOnlyWay = offersPasskeys(visit) && visit.providers.length === 0;
  return isOnlyWay ? { goTo: passkeyPath } : undefined;
}

function showSignIn(visit: InteractionVisit, request: PageRequest): Answer {
  const { texts: t, base, settings, interaction, parameters, offered } = visit;
  const { form: sent, query } = request;
  const problem = request.problem?.text ?? federationProblem(visit);
  const asksPassword =
    settings.passwordEnabled &&
    (!visit.asksIdentifierFirst || sent.has('password') || query.has('password'));
  const hint = parameters['login_hint'];
  const identifier =
    sent.get('identifier') ?? interaction.identifier ?? (typeof hint === 'string' ? hint : '');
  const isKnown = identifier !== '' && problem === undefined;
  // The problem describes both fields: the page must not say which of them is wrong.
  const isProblem = request.problem !== undefined;
  const hasPasskeys = offersPasskeys(visit);
  // On the second page of two, it is known who signs in.
  const isSecond = asksPassword && visit.asksIdentifierFirst && identifier !== '';
  const fields = html`${
    isSecond
      ? html`<p class="who"><span>${identifier}</span> <a href="${base}?sign-in">${t.change}</a></p><input class="visually-hidden" type="text" name="identifier" autocomplete="username" value="${identifier}" readonly tabindex="-1" aria-hidden="true">`
      : field({
          name: 'identifier',
          label: identifierLabel(t, settings.signInIdentifiers),
          autocomplete: hasPasskeys ? 'username webauthn' : 'username',
          value: identifier,
          autofocus: isProblem ? !asksPassword : problem === undefined && !isKnown,
          isProblem,
        })
  }
${
  asksPassword &&
  field({
    name: 'password',
    label: t.password,
    type: 'password',
    autocomplete: 'current-password',
    reveal: t,
    autofocus: isKnown || isProblem,
    isProblem,
    ...(offered.recovery.length > 0 && {
      aside: html`<a href="${base}/forgot-password">${t.forgotPassword}</a>`,
    }),
  })
}
${submit(asksPassword ? t.signIn : t.continue)}`;
  return {
    heading: t.signIn,
    title: t.signInTo(interaction.application.name),
    lead: t.toContinueTo(interaction.application.name),
    problem,
    script: hasPasskeys ? passkeyScriptAt(visit, passkeyPath) : undefined,
    body: html`${form(formAt(visit, ''), fields)}${otherWays(visit, {
      hasProviders: true,
      hasPasskeys,
      links: [offered.signIn.length > 0 && { id: 'code', url: `${base}/code`, text: t.useCode }],
    })}${
      visit.offersSignUp &&
      html`<p class="below">${t.noAccount} <a href="${base}/register">${t.createAccount}</a></p>`
    }${cancel(visit)}`,
  };
}

/** The label of a field that takes any of these identifiers: "E-mail address or user name". */
function identifierLabel(t: Texts, identifiers: readonly (keyof Texts['identifier'])[]): string {
  const names = identifiers.map((identifier) => t.identifier[identifier]);
  const last = names.at(-1) ?? '';
  const label = names.length < 2 ? last : `${names.slice(0, -1).join(', ')} ${t.or} ${last}`;
  return label.charAt(0).toUpperCase() + label.slice(1);
}
