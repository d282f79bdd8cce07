import { ConflictError } from '../../errors.ts';
import type { Verification } from '../../generated/prisma/client.ts';
import { idForQuery } from '../../ids.ts';
import { html } from '../../markup.ts';
import { masked } from '../../proving/codes.ts';
import { belowCode, codeField } from '../../web/fields.ts';
import { field, form, submit } from '../../web/form.ts';
import type { Content } from '../../web/page.ts';
import type { PageRequest } from '../../web/site.ts';
import { formAt } from '../../web/visit.ts';
import { sendViewerCode, verifyViewerCode } from '../operations/codes.ts';
import { updateViewerEmail, updateViewerPhone } from '../operations/identifiers.ts';
import { subpage } from '../site/frame.ts';
import type { AccountPage, AccountVisit } from '../site/visit.ts';

const kinds = {
  EMAIL: { path: '/email', name: 'email', update: updateViewerEmail },
  PHONE: { path: '/phone', name: 'phone', update: updateViewerPhone },
} as const;

type Kind = keyof typeof kinds;

/** A code that was sent in this session to a new address; null if there is none. */
const findCode = ({ context }: AccountVisit, type: Kind, { query }: PageRequest) => {
  const { userId, session } = context.viewer;
  const id = idForQuery(query.get('v'), 'Verification') ?? '';
  return context.database.prisma.verification.findFirst({ where: { id, type, userId, session } });
};

/** Takes a new address: asks for it, then for the code that went there. */
const addressPage = (type: Kind): AccountPage => ({
  path: kinds[type].path,
  needsProof: true,
  async show(visit, request) {
    const code = await findCode(visit, type, request);
    return code ? askForCode(visit, request, type, code) : askForAddress(visit, request, type);
  },
  async submit(visit, request) {
    const { path, name, update } = kinds[type];
    const { context, texts: t } = visit;
    const { form: sent } = request;
    const code = await findCode(visit, type, request);
    if (!code || sent.has('resend')) {
      const address = code?.recipient ?? sent.get(name) ?? '';
      const { id } = await sendViewerCode(context, { [name]: address });
      return { goTo: `${path}?v=${id}`, standsSeconds: 0 };
    }
    if (code.verifiedAt === null) {
      await verifyViewerCode(context, { verificationId: code.id, code: sent.get('code') ?? '' });
    }
    try {
      await update(context, { verificationId: code.id });
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
      // Only a person who has verified the address learns that it is taken.
      return askForAddress(visit, { ...request, problem: { status: 422, text: t.taken } }, type);
    }
    return { goTo: `?done=${name}` };
  },
});

function askForAddress(visit: AccountVisit, request: PageRequest, type: Kind): Content {
  const { texts: t, user } = visit;
  const { form: sent, problem } = request;
  const { path, name } = kinds[type];
  const current = type === 'EMAIL' ? user.primaryEmail : user.primaryPhone;
  const address = field({
    name,
    value: sent.get(name) ?? '',
    faults: problem?.faults?.[name],
    isProblem: problem !== undefined,
    ...(type === 'EMAIL'
      ? { label: t.newEmail, type: 'email', autocomplete: 'email' }
      : { label: t.newPhone, type: 'tel', autocomplete: 'tel', hint: t.phoneHint }),
  });
  return subpage(visit, request, {
    heading: type === 'EMAIL' ? t.email : t.phone,
    lead: t.addressLead,
    body: html`${current !== null && html`<p>${t.now(current)}</p>`}${form(
      formAt(visit, path),
      html`${address}${submit(t.sendCode)}`,
    )}`,
  });
}

function askForCode(
  visit: AccountVisit,
  request: PageRequest,
  type: Kind,
  { id, recipient, expiresAt }: Pick<Verification, 'id' | 'recipient' | 'expiresAt'>,
): Content {
  const { texts: t, base } = visit;
  const { path } = kinds[type];
  const frame = formAt(visit, `${path}?v=${id}`);
  return subpage(visit, request, {
    heading: t.enterCode,
    lead: t.codeSent(masked({ type, recipient })),
    body: html`${form(frame, html`${codeField(t.code, t, request)}${submit(t.continue)}`)}${belowCode(visit, frame, { expiresAt, otherUrl: `${base}${path}` })}`,
  });
}

/** Takes a new e-mail address. */
export const emailPage = addressPage('EMAIL');

/** Takes a new telephone number. */
export const phonePage = addressPage('PHONE');
