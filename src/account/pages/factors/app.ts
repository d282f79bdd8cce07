import { html } from '../../../markup.ts';
import { confirmTotp, enrollTotp } from '../../../proving/factors.ts';
import { authenticatorSecret, codeField } from '../../../web/fields.ts';
import { field, form, submit } from '../../../web/form.ts';
import { formAt } from '../../../web/visit.ts';
import { sessionHolder } from '../../operations/holder.ts';
import { subpage } from '../../site/frame.ts';
import type { AccountPage } from '../../site/visit.ts';
import { afterAdding, factorsPath } from './paths.ts';

const path = `${factorsPath}/app`;

/** Adds an authenticator app. */
export const appPage: AccountPage = {
  path,
  needsProof: true,
  async show(visit, request) {
    const { texts: t, context } = visit;
    const name = field({
      name: 'name',
      label: `${t.appName} (${t.optional})`,
      autocomplete: 'off',
      isOptional: true,
      maxLength: 128,
      value: request.form.get('name') ?? '',
    });
    const code = codeField(t.newFactor.appCode, t, request, {
      hint: t.newFactor.appCodeHint,
      autofocus: false,
    });
    return subpage(visit, request, {
      heading: t.ofFactor.TOTP.add,
      lead: t.newFactor.appLead,
      body: html`${authenticatorSecret(t, await enrollTotp(sessionHolder(context)))}${form(
        formAt(visit, path),
        html`${name}${code}${submit(t.continue)}`,
      )}`,
    });
  },
  async submit(visit, { form: sent }) {
    const name = sent.get('name')?.trim() || null;
    await confirmTotp(sessionHolder(visit.context), { code: sent.get('code') ?? '', name });
    return afterAdding(visit);
  },
};
