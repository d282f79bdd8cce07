import { ConflictError } from '../../errors.ts';
import { masked } from '../../experience/codes.ts';
import { action, field, form, submit } from '../../experience/pages/form.ts';
import { html } from '../../html/markup.ts';
import { idForQuery } from '../../ids.ts';
import { sendViewerCode, verifyViewerCode } from '../operations/codes.ts';
import { updateViewerEmail, updateViewerPhone } from '../operations/identifiers.ts';
import { accountPage } from '../pages/frame.ts';
import type { AccountPage, AccountRequest, AccountVisit } from './account-page.ts';

const kinds = {
  EMAIL: { path: '/email', name: 'email', update: updateViewerEmail },
  PHONE: { path: '/phone', name: 'phone', update: updateViewerPhone },
} as const;

type Kind = keyof typeof kinds;

/** A code that was sent in this session to a new address; null if there is none. */
const findCode = ({ context }: AccountVisit, type: Kind, { query }: AccountRequest) => {
  const { userId, session } = context.viewer;
  const id = idForQuery(query.get('v'), 'Verification') ?? '';
  return context.database.prisma.viewerCode.findFirst({ where: { id, type, userId, session } });
};

/** Takes a new address: asks for it, then for the code that went there. */
const addressPage = (type: Kind): AccountPage => ({
  path: kinds[type].path,
  needsProof: true,
  async show(visit, request) {
    const code = await findCode(visit, type, request);
    return {
      markup: code ? codeMarkup(visit, request, type, code) : askMarkup(visit, request, type),
    };
  },
  async submit(visit, request) {
    const { path, name, update } = kinds[type];
    const { context, texts: t } = visit;
    const { form: sent } = request;
    const code = await findCode(visit, type, request);
    if (!code || sent.has('resend')) {
      const address = code?.recipient ?? sent.get(name) ?? '';
      const { id } = await sendViewerCode(context, { [name]: address });
      return { goTo: `${path}?v=${id}` };
    }
    if (code.verifiedAt === null) {
      await verifyViewerCode(context, { verificationId: code.id, code: sent.get('code') ?? '' });
    }
    try {
      await update(context, { verificationId: code.id });
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
      // Only whoever has shown to hold the address learns it.
      const problem = { status: 422, text: t.taken };
      const anew = { ...request, query: new URLSearchParams(), problem };
      return { markup: askMarkup(visit, anew, type) };
    }
    return { goTo: `?done=${name}` };
  },
});

function askMarkup(visit: AccountVisit, request: AccountRequest, type: Kind): string {
  const { texts: t, common, user, base, csrfToken } = visit;
  const { form: sent, problem } = request;
  const { path, name } = kinds[type];
  const now = type === 'EMAIL' ? user.primaryEmail : user.primaryPhone;
  const shared = {
    name,
    value: sent.get(name) ?? '',
    faults: problem?.faults?.[name] ?? [],
    isProblem: problem !== undefined,
  };
  return accountPage(visit, request, {
    heading: type === 'EMAIL' ? t.email : t.phone,
    lead: t.addressLead,
    body: html`${now !== null && html`<p>${t.now(now)}</p>`}${form(
      { action: `${base}${path}`, csrfToken },
      html`${
        type === 'EMAIL'
          ? field({ ...shared, label: t.newEmail, type: 'email', autocomplete: 'email' })
          : field({
              ...shared,
              label: t.newPhone,
              type: 'tel',
              autocomplete: 'tel',
              hint: common.phoneHint,
            })
      }${submit(common.sendCode)}`,
    )}`,
  });
}

function codeMarkup(
  visit: AccountVisit,
  request: AccountRequest,
  type: Kind,
  { id, recipient }: { readonly id: string; readonly recipient: string },
): string {
  const { common, base, csrfToken } = visit;
  const { path } = kinds[type];
  const frame = { action: `${base}${path}?v=${id}`, csrfToken };
  return accountPage(visit, request, {
    heading: common.enterCode,
    lead: common.codeSent(masked({ type, recipient })),
    body: html`${form(
      frame,
      html`${field({
        name: 'code',
        label: common.code,
        autocomplete: 'one-time-code',
        maxLength: 20,
        autofocus: request.problem === undefined,
        isProblem: request.problem !== undefined,
      })}${submit(common.continue)}`,
    )}<div class="below">${common.notArrived}<br>${action(frame, 'resend', common.sendAnother)}<span class="apart" aria-hidden="true">·</span><a href="${base}${path}">${common.otherAddress}</a></div>`,
  });
}

/** Takes a new e-mail address. */
export const emailPage = addressPage('EMAIL');

/** Takes a new telephone number. */
export const phonePage = addressPage('PHONE');
