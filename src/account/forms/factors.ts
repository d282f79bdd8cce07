import { NotFoundError } from '../../errors.ts';
import { field, form, submit } from '../../experience/pages/form.ts';
import { Html, html } from '../../html/markup.ts';
import { idForQuery } from '../../ids.ts';
import {
  confirmTotp,
  createBackupCodes,
  deleteViewerFactor,
  enrollTotp,
} from '../operations/factors.ts';
import { accountPage, dateIn, entries, entry } from '../pages/frame.ts';
import type { AccountPage } from './account-page.ts';
import { passkeySignal, scriptOf } from './passkey.ts';

/** Shows the second factors, removes one, or leads to adding one. */
export const factorsPage: AccountPage = {
  path: '/factors',
  async show(visit, request) {
    const { texts: t, base, csrfToken, context, user, settings } = visit;
    const factors = await context.database.prisma.userFactor.findMany({
      where: { userId: user.id },
      include: { _count: { select: { codes: true } } },
      orderBy: { id: 'asc' },
    });
    const items = factors.map(({ id, type, name, createdAt, lastUsedAt, _count }) =>
      entry(
        name ?? t.factorKinds[type],
        [
          ...(name === null ? [] : [t.factorKinds[type]]),
          ...(type === 'BACKUP_CODES' ? [t.codesLeft(_count.codes)] : []),
          lastUsedAt === null
            ? t.addedOn(dateIn(visit, createdAt))
            : t.lastUsed(dateIn(visit, lastUsedAt)),
        ],
        form(
          { action: `${base}/factors`, csrfToken },
          html`<button class="text" type="submit" name="id" value="${id}" aria-label="${t.remove}: ${name ?? t.factorKinds[type]}">${t.remove}</button>`,
        ),
      ),
    );
    const paths = {
      TOTP: '/factors/app',
      PASSKEY: '/factors/passkey',
      BACKUP_CODES: '/factors/codes',
    } as const;
    const offersPasskeys = settings.factors.includes('PASSKEY');
    const script = offersPasskeys ? scriptOf(visit) : undefined;
    return {
      markup: accountPage(visit, request, {
        heading: t.factors,
        lead: t.factorsLead,
        body: html`${items.length > 0 ? entries(items) : html`<p>${t.none}</p>`}<ul class="ways">${settings.factors.map(
          (type) =>
            html`<li><a class="button quiet" href="${base}${paths[type]}">${t.addFactor[type]}</a></li>`,
        )}</ul>${offersPasskeys && (await passkeySignal(visit))}`,
        script,
      }),
      script,
    };
  },
  async submit({ context }, { form: sent }) {
    try {
      await deleteViewerFactor(context, { id: idForQuery(sent.get('id'), 'UserFactor') ?? '' });
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error;
    }
    return { goTo: '/factors?done=factors' };
  },
};

/** Adds an authenticator app. */
export const appPage: AccountPage = {
  path: '/factors/app',
  needsProof: true,
  async show(visit, request) {
    const { texts: t, common, base, csrfToken, context } = visit;
    const { secret, uri, qrCodeSvg } = await enrollTotp(context);
    const picture = new Html(
      qrCodeSvg.replace(
        '<svg ',
        html`<svg class="qr" role="img" aria-label="${common.factor.qrCode}" `.markup,
      ),
    );
    const key = (secret.match(/.{1,4}/g) ?? []).join(' ');
    return {
      markup: accountPage(visit, request, {
        heading: t.addFactor.TOTP,
        lead: common.factor.appLead,
        body: html`${picture}<p>${common.factor.typeKey} <code>${key}</code></p>
<p><a href="${uri}">${common.factor.openApp}</a></p>${form(
          { action: `${base}/factors/app`, csrfToken },
          html`${field({
            name: 'name',
            label: `${t.appName} (${common.optional})`,
            autocomplete: 'off',
            isOptional: true,
            maxLength: 128,
            value: request.form.get('name') ?? '',
          })}${field({
            name: 'code',
            label: common.factor.appCode,
            autocomplete: 'one-time-code',
            maxLength: 20,
            hint: common.factor.appCodeHint,
            isProblem: request.problem !== undefined,
          })}${submit(common.continue)}`,
        )}`,
      }),
    };
  },
  async submit({ context }, { form: sent }) {
    const name = sent.get('name')?.trim() || null;
    await confirmTotp(context, { code: sent.get('code') ?? '', name });
    return { goTo: '/factors?done=factors' };
  },
};

/** Makes backup codes, and shows them once. */
export const codesPage: AccountPage = {
  path: '/factors/codes',
  needsProof: true,
  async show(visit, request) {
    const { texts: t, common, base, csrfToken } = visit;
    return {
      markup: accountPage(visit, request, {
        heading: t.addFactor.BACKUP_CODES,
        lead: common.factor.backupLead,
        body: form(
          { action: `${base}/factors/codes`, csrfToken },
          submit(common.factor.createCodes),
        ),
      }),
    };
  },
  async submit(visit, request) {
    const { common } = visit;
    const codes = await createBackupCodes(visit.context);
    return {
      markup: accountPage(visit, request, {
        heading: common.factor.codes,
        lead: common.factor.codesLead,
        body: html`<ol class="codes">${codes.map((code) => html`<li><code>${code}</code></li>`)}</ol><p>${common.factor.codesOnce}</p>`,
      }),
    };
  },
};
