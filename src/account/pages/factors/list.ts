import { listPasskeys } from '../../../factors/passkeys/enroll.ts';
import { relyingPartyOf, userHandleOf } from '../../../factors/passkeys/relying-party.ts';
import { encoded } from '../../../factors/passkeys/responses.ts';
import { idForQuery } from '../../../ids.ts';
import { type Html, html } from '../../../markup.ts';
import { dateIn, entry, ways } from '../../../web/entries.ts';
import { passkeyScript } from '../../../web/passkeys/script.ts';
import { deleteViewerFactor } from '../../operations/factors.ts';
import { entriesOrNone, removeButton, subpage, unlessGone } from '../../site/frame.ts';
import type { AccountPage, AccountVisit } from '../../site/visit.ts';
import { addFactorPages } from './add.ts';
import { factorsChanged, factorsPath } from './paths.ts';

/** Shows the second factors, removes one, or leads to adding one. */
export const factorsPage: AccountPage = {
  path: factorsPath,
  async show(visit, request) {
    const { texts: t, context, user, settings, base } = visit;
    const factors = await context.database.prisma.userFactor.findMany({
      where: { userId: user.id },
      include: { _count: { select: { codes: true } } },
      orderBy: { id: 'asc' },
    });
    const items = factors.map(({ id, type, name, createdAt, lastUsedAt, _count: { codes } }) => {
      const kind = t.ofFactor[type].name;
      const lines = [
        ...(name === null ? [] : [kind]),
        ...(type === 'BACKUP_CODES' ? [t.codesLeft(codes)] : []),
        lastUsedAt === null
          ? t.addedOn(dateIn(visit, createdAt))
          : t.lastUsed(dateIn(visit, lastUsedAt)),
      ];
      const shown = name ?? kind;
      return entry(shown, lines, removeButton(visit, factorsPath, { id, name: shown }));
    });
    const additions = settings.factors.map((type) => ({
      url: `${base}${addFactorPages[type].path}`,
      text: t.ofFactor[type].add,
    }));
    const offersPasskeys = settings.factors.includes('PASSKEY');
    return subpage(visit, request, {
      heading: t.factors,
      lead: t.factorsLead,
      body: html`${entriesOrNone(visit, items)}${ways(additions)}${offersPasskeys && (await passkeySignal(visit))}`,
      script: offersPasskeys
        ? passkeyScript(context, `${base}${addFactorPages.PASSKEY.path}`)
        : undefined,
    });
  },
  async submit({ context }, { form: sent }) {
    const id = idForQuery(sent.get('id'), 'UserFactor') ?? '';
    await unlessGone(deleteViewerFactor(context, { id }));
    return factorsChanged;
  },
};

/** Tells the browser which passkeys of the person are left (WebAuthn Level 3 §5.1.10.3). */
async function passkeySignal({ context, user }: AccountVisit): Promise<Html> {
  const passkeys = await listPasskeys(context.database.prisma, user.id);
  const signalAllAcceptedCredentials = {
    rpId: relyingPartyOf(context).id,
    userId: encoded(userHandleOf(user.id)),
    allAcceptedCredentialIds: passkeys.map(({ credentialId }) => encoded(credentialId)),
  };
  return html`<div hidden data-passkey-signal="${JSON.stringify({ signalAllAcceptedCredentials })}"></div>`;
}
