import { form, problemNote } from '../../experience/pages/form.ts';
import { html } from '../../html/markup.ts';
import { page } from '../../html/page.ts';
import { listSocialProviders } from '../../identity-providers/choice.ts';
import { noteOfDone, type Row, refusedParameter, section } from '../pages/frame.ts';
import type { AccountPage, AccountVisit } from './account-page.ts';

/** The first page: everything at a glance, each line a way to change it. */
export const overviewPage: AccountPage = {
  path: '',
  async show(visit, request) {
    const { look, texts: t, base, user, csrfToken, settings } = visit;
    const { prisma } = visit.context.database;
    const counts = await countsOf(visit);
    const refused = request.query.has(refusedParameter) ? t.notAllowed : undefined;
    const address = (value: string | null, isVerified: boolean) =>
      value === null ? t.none : isVerified ? value : `${value} (${t.unverified})`;
    const factors =
      settings.factors.length > 0 || counts.factors > 0
        ? [{ label: t.factors, value: String(counts.factors || t.none), url: `${base}/factors` }]
        : [];
    const password: Row[] = settings.passwordEnabled
      ? [
          {
            label: t.password,
            value: user.passwordDigest === null ? t.notSet : t.isSet,
            url: `${base}/password`,
          },
        ]
      : [];
    const where = { userId: user.id };
    const [organizations, identities, applications, providers] = await Promise.all([
      prisma.organizationUser.count({ where }),
      prisma.userIdentity.count({ where }),
      prisma.userGrant.count({ where }),
      listSocialProviders(prisma),
    ]);
    const others = [
      ['identities', identities, identities > 0 || providers.length > 0],
      ['applications', applications, applications > 0],
      ['organizations', organizations, organizations > 0],
    ] as const;
    return {
      markup: page(
        {
          heading: t.account,
          lead: t.signedInAs(user.name ?? user.username ?? user.primaryEmail ?? user.id),
          body: html`${problemNote(refused)}${noteOfDone(visit, request)}${section(t.profile, [
            { label: t.name, value: user.name ?? t.none, url: `${base}/profile` },
            { label: t.username, value: user.username ?? t.none, url: `${base}/username` },
          ])}${section(t.contact, [
            {
              label: t.email,
              value: address(user.primaryEmail, user.isEmailVerified),
              url: `${base}/email`,
            },
            {
              label: t.phone,
              value: address(user.primaryPhone, user.isPhoneVerified),
              url: `${base}/phone`,
            },
          ])}${section(t.security, [
            ...password,
            ...factors,
            { label: t.sessions, value: t.sessionCount(counts.sessions), url: `${base}/sessions` },
            ...others
              .filter(([, , isShown]) => isShown)
              .map(([name, found]) => ({
                label: t[name],
                value: found === 0 ? t.none : String(found),
                url: `${base}/${name}`,
              })),
          ])}${form(
            { action: `${base}/sign-out`, csrfToken },
            html`<button class="quiet" type="submit">${t.signOut}</button>`,
          )}<p class="below"><a class="bad" href="${base}/delete">${t.deleteAccount}</a></p>`,
        },
        look,
      ),
    };
  },
};

async function countsOf({ context, user }: AccountVisit) {
  const { prisma } = context.database;
  const where = { userId: user.id };
  const [sessions, factors] = await Promise.all([
    prisma.session.count({ where: { ...where, expiresAt: { gt: context.clock.now() } } }),
    prisma.userFactor.count({ where }),
  ]);
  return { sessions, factors };
}
