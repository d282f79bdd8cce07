import { idForQuery } from '../../ids.ts';
import { type Html, html } from '../../markup.ts';
import { rootOf } from '../../oidc/first-party/app.ts';
import { pathToReturnTo } from '../../oidc/first-party/sign-in.ts';
import { masked } from '../../proving/codes.ts';
import { verifyBackupCode, verifyTotp } from '../../proving/factors.ts';
import { startPasskey, verifyPasskey } from '../../proving/passkeys.ts';
import { ways as linksTo } from '../../web/entries.ts';
import { belowCode, codeField } from '../../web/fields.ts';
import { field, form, submit } from '../../web/form.ts';
import { passkeyForm, withoutPasskeys } from '../../web/passkeys/form.ts';
import { orFailed, responseOf } from '../../web/passkeys/response.ts';
import { passkeyScript } from '../../web/passkeys/script.ts';
import type { PageRequest } from '../../web/site.ts';
import { formAt } from '../../web/visit.ts';
import { accountApp } from '../app.ts';
import { sendViewerCode, verifyViewerCode } from '../operations/codes.ts';
import { sessionHolder } from '../operations/holder.ts';
import { verifyViewerPassword } from '../operations/password.ts';
import {
  type DirectMethod,
  listProvingProviders,
  readProof,
  verificationMethodsOf,
} from '../operations/proof.ts';
import { startProviderProof } from '../operations/provider-proof.ts';
import { subpage } from '../site/frame.ts';
import type { AccountPage, AccountVisit } from '../site/visit.ts';

const path = '/verify';

/** The path of the page where a person proves who they are, and then comes back. */
export const pathToVerify = (to: string): string => `${path}?${new URLSearchParams({ to })}`;

const wayOf = (ways: readonly DirectMethod[], { query }: PageRequest): DirectMethod | undefined =>
  ways.find((way) => way === query.get('by')) ?? ways[0];

const pathOf = (to: string, by: DirectMethod, verificationId?: string): string =>
  `${path}?${new URLSearchParams({ to, by, ...(verificationId ? { v: verificationId } : {}) })}`;

/** Asks once more who the person is, before a change that needs it. */
export const verifyPage: AccountPage = {
  path,
  wrong: ({ texts: t }, { query }) =>
    query.get('by') === 'PASSKEY' ? t.wrongPasskey : t.wrongInput,
  async show(visit, request) {
    const { texts: t, context, base } = visit;
    const to = pathToReturnTo(context, accountApp, request.query.get('to'));
    if ((await readProof(context.database.prisma, context)) !== null && !request.problem)
      return { goTo: to.slice(rootOf(accountApp).length) };
    const ways = await verificationMethodsOf(context);
    const way = wayOf(ways, request);
    const others = ways.filter((one) => one !== way);
    const providers = await listProvingProviders(context);
    const providerForms = providers.map(({ id, name }) =>
      form(
        formAt(visit, pathToVerify(to)),
        html`<input type="hidden" name="provider" value="${id}"><button class="quiet" type="submit">${t.continueWith(name)}</button>`,
      ),
    );
    const links = others.map((other) => ({
      url: `${base}${pathOf(to, other)}`,
      text: t.methods[other],
    }));
    return subpage(visit, request, {
      heading: t.verify,
      lead: way === undefined && providers.length === 0 ? t.verifyNothing : t.verifyLead,
      script: way === 'PASSKEY' ? passkeyScript(context, `${base}${path}`) : undefined,
      body: html`${way !== undefined && (await fieldsOf(visit, request, to, way))}${providerForms}${linksTo(links)}`,
    });
  },
  async submit(visit, request) {
    const { context, user } = visit;
    const { form: sent, query } = request;
    const to = pathToReturnTo(context, accountApp, query.get('to'));
    const identityProviderId = sent.get('provider');
    if (identityProviderId !== null)
      return {
        leaveTo: (await startProviderProof(context, { identityProviderId })).url,
        standsSeconds: null,
      };
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
        return { goTo: pathOf(to, way, id), standsSeconds: 0 };
      }
      await verifyViewerCode(context, { verificationId, code });
    }
    if (way === 'PASSWORD')
      await verifyViewerPassword(context, { password: sent.get('password') ?? '' });
    if (way === 'PASSKEY') {
      if (sent.has('options')) return { json: await startPasskey(sessionHolder(context)) };
      await orFailed(verifyPasskey(sessionHolder(context), { response: responseOf(request) }));
    }
    if (way === 'TOTP') await verifyTotp(sessionHolder(context), { code });
    if (way === 'BACKUP_CODE') await verifyBackupCode(sessionHolder(context), { code });
    return { goTo: to.slice(rootOf(accountApp).length) };
  },
};

/** A code that was sent in this session; null if there is none. */
const findCode = ({ context }: AccountVisit, given: string) => {
  const id = idForQuery(given, 'Verification') ?? '';
  const { userId, session } = context.viewer;
  return context.database.prisma.verification.findFirst({ where: { id, userId, session } });
};

async function fieldsOf(
  visit: AccountVisit,
  request: PageRequest,
  to: string,
  way: DirectMethod,
): Promise<Html> {
  const { texts: t, user } = visit;
  const verificationId = request.query.get('v') ?? undefined;
  const frame = formAt(visit, pathOf(to, way, verificationId));
  const isProblem = request.problem !== undefined;
  const focus = { autofocus: true, isProblem };
  const oneTimeCode = codeField(t.code, t, request);
  const sent = { EMAIL_CODE: user.primaryEmail, PHONE_CODE: user.primaryPhone };
  switch (way) {
    case 'PASSWORD':
      return form(
        frame,
        html`${field({ name: 'password', label: t.password, type: 'password', reveal: t, autocomplete: 'current-password', ...focus })}${submit(t.continue)}`,
      );
    case 'TOTP':
      return form(frame, html`${oneTimeCode}${submit(t.continue)}`);
    case 'PASSKEY':
      return html`${withoutPasskeys(t)}${passkeyForm(frame, t, { ceremony: 'get', button: t.usePasskey, cancelled: t.passkeyCancelled })}`;
    case 'BACKUP_CODE':
      return form(
        frame,
        html`${field({ name: 'code', label: t.ofFactor.BACKUP_CODES.label, autocomplete: 'off', maxLength: 40, ...focus })}${submit(t.continue)}`,
      );
    default: {
      const recipient = masked({
        type: way === 'EMAIL_CODE' ? 'EMAIL' : 'PHONE',
        recipient: sent[way] ?? '',
      });
      const code = verificationId && (await findCode(visit, verificationId));
      return !code
        ? form(formAt(visit, pathOf(to, way)), submit(t.sendCodeTo(recipient)))
        : html`<p>${t.codeSent(recipient)}</p>${form(frame, html`${oneTimeCode}${submit(t.continue)}`)}${belowCode(visit, frame, code)}`;
    }
  }
}
