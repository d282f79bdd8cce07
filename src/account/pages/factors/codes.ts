import { createBackupCodes } from '../../../proving/factors.ts';
import { backupCodeList } from '../../../web/fields.ts';
import { form, submit } from '../../../web/form.ts';
import { formAt } from '../../../web/visit.ts';
import { sessionHolder } from '../../operations/holder.ts';
import { subpage } from '../../site/frame.ts';
import type { AccountPage } from '../../site/visit.ts';
import { backupCodesPath as path } from './paths.ts';

/** Makes backup codes, and shows them once. */
export const codesPage: AccountPage = {
  path,
  needsProof: true,
  show(visit, request) {
    const { texts: t } = visit;
    return subpage(visit, request, {
      heading: t.ofFactor.BACKUP_CODES.add,
      lead: t.newFactor.backupLead,
      body: form(formAt(visit, path), submit(t.ofFactor.BACKUP_CODES.add)),
    });
  },
  async submit(visit, request) {
    const { texts: t, context } = visit;
    return subpage(visit, request, {
      heading: t.newFactor.codes,
      lead: t.newFactor.codesLead,
      body: backupCodeList(t, await createBackupCodes(sessionHolder(context))),
    });
  },
};
