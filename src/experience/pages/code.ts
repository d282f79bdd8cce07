import { secondsUntil } from '../../clock.ts';
import { html } from '../../markup.ts';
import { masked } from '../../proving/codes.ts';
import { ways } from '../../web/entries.ts';
import { belowCode, codeField } from '../../web/fields.ts';
import { doneNote, form, submit } from '../../web/form.ts';
import type { Answer, PageRequest } from '../../web/site.ts';
import { formAt } from '../../web/visit.ts';
import { verifyCode } from '../codes.ts';
import { cancel } from '../site/controls.ts';
import { withWay } from '../site/last-way.ts';
import { leadOn } from '../site/next-page.ts';
import type { InteractionPage, InteractionVisit } from '../site/visit.ts';
import { addressPaths, againParameter, kindParameter, pathTo, submitAddress } from './address.ts';

type Verification = InteractionVisit['interaction']['verifications'][number];

const findVerification = (
  { interaction }: InteractionVisit,
  { query }: PageRequest,
): Verification | undefined => interaction.verifications.find(({ id }) => id === query.get('v'));

/** Continues after a successful verification. */
const afterwards = (
  visit: InteractionVisit,
  { purpose }: Verification,
  request: PageRequest,
): Answer | Promise<Answer> =>
  purpose === 'SIGN_IN'
    ? leadOn(visit).then((answer) => withWay(visit, answer, 'code'))
    : { goTo: purpose === 'REGISTER' ? pathTo('/register', request) : '/new-password' };

/** Asks for the code. */
export const codePage: InteractionPage = {
  path: '/verify',
  wrong: ({ texts: t }) => t.wrong.CODE,
  show(visit, request) {
    const verification = findVerification(visit, request);
    if (!verification) return { goTo: '?sign-in' };
    return verification.verifiedAt !== null && verification.purpose !== 'SIGN_IN'
      ? afterwards(visit, verification, request)
      : showCode(visit, verification, request);
  },
  submit: submitCode,
};

async function submitCode(visit: InteractionVisit, request: PageRequest): Promise<Answer> {
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
  return afterwards(visit, verification, request);
}

/** Shows the page that asks for the code. It says the same whether or not one was sent. */
function showCode(
  visit: InteractionVisit,
  verification: Verification,
  request: PageRequest,
): Answer {
  const { texts: t, base, context, settings } = visit;
  const { query, problem } = request;
  const { id, purpose, type, expiresAt } = verification;
  const frame = formAt(visit, pathTo('/verify', request, { v: id }));
  const minutes = Math.max(0, Math.ceil(secondsUntil(context.clock, expiresAt) / 60));
  const kind = { [kindParameter]: type.toLowerCase() };
  const code = codeField(t.code, t, request, { hint: t.codeMinutes(minutes) });
  return {
    heading: t.enterCode,
    lead: t.codeSent(masked(verification)),
    body: html`${query.has(againParameter) && !problem && doneNote(t.sentAgain)}${form(
      frame,
      html`${code}${submit(t.continue)}`,
    )}${ways([
      purpose === 'SIGN_IN' &&
        settings.passwordEnabled && { url: `${base}?sign-in`, text: t.usePassword },
    ])}${belowCode(visit, frame, {
      expiresAt,
      otherUrl: `${base}${pathTo(addressPaths[purpose], request, kind)}`,
    })}${cancel(visit)}`,
  };
}

/**
 * Takes the code from the link in a message, in the browser that asked for the message. It asks for a click, so that
 * scanners, which only fetch the link, do not use the code up.
 */
export const linkPage: InteractionPage = {
  path: '/link',
  wrong: ({ texts: t }) => t.wrong.CODE,
  show(visit, request) {
    const { texts: t, interaction } = visit;
    const { query, problem } = request;
    if (!findVerification(visit, request) || problem) return codePage.show(visit, request);
    const sent = new URLSearchParams({ v: query.get('v') ?? '', code: query.get('code') ?? '' });
    return {
      heading: t.linkTitle,
      lead: t.toContinueTo(interaction.application.name),
      body: html`<p>${t.linkLead}</p>${form(formAt(visit, `/link?${sent}`), submit(t.continue))}`,
    };
  },
  submit: (visit, { query }) =>
    submitCode(visit, { query, form: new URLSearchParams([['code', query.get('code') ?? '']]) }),
};
