import { masked } from '../../experience/codes.ts';
import { orFailed, responseOf } from '../../experience/forms/passkey.ts';
import { action, field, form, submit } from '../../experience/pages/form.ts';
import { passkeyForm } from '../../experience/pages/passkey-form.ts';
import { type Html, html } from '../../html/markup.ts';
import { idForQuery } from '../../ids.ts';
import { pathWithin } from '../../oidc/own/sign-in.ts';
import type { Services } from '../../services.ts';
import { sendViewerCode, verifyViewerCode } from '../operations/codes.ts';
import {
  startPasskey,
  verifyBackupCode,
  verifyPasskey,
  verifyTotp,
} from '../operations/factors.ts';
import { verifyViewerPassword } from '../operations/password.ts';
import {
  listProvingProviders,
  type OwnMethod,
  readProof,
  verificationMethodsOf,
} from '../operations/proof.ts';
import { startProviderProof } from '../operations/provider-proof.ts';
import { accountPage } from '../pages/frame.ts';
import type { AccountPage, AccountRequest, AccountVisit } from './account-page.ts';
import { scriptOf } from './passkey.ts';

const root = '/account';
const path = '/verify';
const passing: ReadonlySet<string> = new Set(
  ['sign-in', 'callback', 'sign-out', 'signed-out', 'deleted', 'graphql', 'verify'].map(
    (name) => `${root}/${name}`,
  ),
);

/** Where to come back to: a path of a page of the account, whatever was asked for. */
export const pathToReturnTo = (services: Pick<Services, 'baseUrl'>, to: unknown): string =>
  pathWithin(services, { root, passing }, to);

/** The path of the page where a person proves who they are, and then comes back. */
export const pathToVerify = (to: string): string => `${path}?${new URLSearchParams({ to })}`;

type Way = OwnMethod;

const wayOf = (ways: readonly Way[], { query }: AccountRequest): Way | undefined =>
  ways.find((way) => way === query.get('by')) ?? ways[0];

const pathOf = (to: string, by: Way, verificationId?: string): string =>
  `${path}?${new URLSearchParams({ to, by, ...(verificationId ? { v: verificationId } : {}) })}`;

/** Asks once more who the person is, before a change that needs it. */
export const verifyPage: AccountPage = {
  path,
  wrong: ({ texts: t, common }, { query }) =>
    query.get('by') === 'PASSKEY' ? common.problem.PASSKEY : t.wrong,
  async show(visit, request) {
    const { texts: t, common, context, base, csrfToken } = visit;
    const to = pathToReturnTo(context, request.query.get('to'));
    if ((await readProof(context.database.prisma, context)) !== null && !request.problem)
      return { goTo: to.slice(root.length) };
    const ways = await verificationMethodsOf(context);
    const way = wayOf(ways, request);
    const providers = await listProvingProviders(context);
    const others = ways.filter((one) => one !== way);
    const script = way === 'PASSKEY' ? scriptOf(visit, path) : undefined;
    return {
      script,
      markup: accountPage(visit, request, {
        heading: t.verify,
        lead: way === undefined && providers.length === 0 ? t.verifyNothing : t.verifyLead,
        script,
        body: html`${way !== undefined && fieldsOf(visit, request, to, way)}${providers.map(
          ({ id, name }) =>
            form(
              { action: `${base}${pathToVerify(to)}`, csrfToken },
              html`<input type="hidden" name="provider" value="${id}"><button class="quiet" type="submit">${common.continueWith(name)}</button>`,
            ),
        )}${
          others.length > 0 &&
          html`<ul class="ways">${others.map(
            (other) =>
              html`<li><a class="button quiet" href="${base}${pathOf(to, other)}">${t.methods[other]}</a></li>`,
          )}</ul>`
        }`,
      }),
    };
  },
  async submit(visit, request) {
    const { context, user } = visit;
    const { form: sent, query } = request;
    const to = pathToReturnTo(context, query.get('to'));
    const identityProviderId = sent.get('provider');
    if (identityProviderId !== null)
      return { goOutTo: (await startProviderProof(context, { identityProviderId })).url };
    const way = wayOf(await verificationMethodsOf(context), request);
    // The way was closed since the page was shown.
    if (way !== query.get('by')) return { goTo: pathToVerify(to) };
    const code = sent.get('code') ?? '';
    const given = query.get('v');
    const verificationId = given && (idForQuery(given, 'Verification') ?? '');
    if (way === 'EMAIL_CODE' || way === 'PHONE_CODE') {
      if (verificationId === null || sent.has('resend')) {
        const { id } = await sendViewerCode(
          context,
          way === 'EMAIL_CODE' ? { email: user.primaryEmail } : { phone: user.primaryPhone },
        );
        return { goTo: pathOf(to, way, id) };
      }
      await verifyViewerCode(context, { verificationId, code });
    }
    if (way === 'PASSWORD')
      await verifyViewerPassword(context, { password: sent.get('password') ?? '' });
    if (way === 'PASSKEY') {
      if (sent.has('options')) return { json: await startPasskey(context) };
      await orFailed(verifyPasskey(context, { response: responseOf(request) }));
    }
    if (way === 'TOTP') await verifyTotp(context, { code });
    if (way === 'BACKUP_CODE') await verifyBackupCode(context, { code });
    return { goTo: to.slice(root.length) };
  },
};

function fieldsOf(visit: AccountVisit, request: AccountRequest, to: string, way: Way): Html {
  const { texts: t, common, base, csrfToken, user } = visit;
  const verificationId = request.query.get('v') ?? undefined;
  const frame = { action: `${base}${pathOf(to, way, verificationId)}`, csrfToken };
  const isProblem = request.problem !== undefined;
  const autofocus = !isProblem;
  const oneTimeCode = field({
    name: 'code',
    label: common.code,
    autocomplete: 'one-time-code',
    maxLength: 20,
    autofocus,
    isProblem,
  });
  const sent = { EMAIL_CODE: user.primaryEmail, PHONE_CODE: user.primaryPhone };
  switch (way) {
    case 'PASSWORD':
      return form(
        frame,
        html`${field({ name: 'password', label: common.password, type: 'password', autocomplete: 'current-password', autofocus, isProblem })}${submit(common.continue)}`,
      );
    case 'TOTP':
      return form(frame, html`${oneTimeCode}${submit(common.continue)}`);
    case 'PASSKEY':
      return html`<p data-without-passkeys>${common.passkeysUnavailable}</p>${passkeyForm(frame, common, { ceremony: 'get', button: common.usePasskey, cancelled: common.passkeyCancelled })}`;
    case 'BACKUP_CODE':
      return form(
        frame,
        html`${field({ name: 'code', label: t.backupCode, autocomplete: 'off', maxLength: 40, autofocus, isProblem })}${submit(common.continue)}`,
      );
    default: {
      const recipient = masked({
        type: way === 'EMAIL_CODE' ? 'EMAIL' : 'PHONE',
        recipient: sent[way] ?? '',
      });
      return verificationId === undefined
        ? form(frame, submit(t.sendCodeTo(recipient)))
        : html`<p>${common.codeSent(recipient)}</p>${form(frame, html`${oneTimeCode}${submit(common.continue)}`)}<div class="below">${common.notArrived}<br>${action(frame, 'resend', common.sendAnother)}</div>`;
    }
  }
}
