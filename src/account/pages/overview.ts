import { listSocialProviders } from '../../identity-providers/choice.ts';
import { html } from '../../markup.ts';
import { form } from '../../web/form.ts';
import type { Picture } from '../../web/page.ts';
import { formAt } from '../../web/visit.ts';
import { readActivity } from '../site/activity.ts';
import { checkUp } from '../site/check-up.ts';
import {
  adviceList,
  entriesOrNone,
  noteOfDone,
  type Row,
  refusedParameter,
  rows,
  section,
} from '../site/frame.ts';
import type { AccountPage, AccountVisit } from '../site/visit.ts';

/** The first page: everything at a glance, each line a way to change it. */
export const overviewPage: AccountPage = {
  path: '',
  async show(visit, request) {
    const { texts: t, base, user } = visit;
    const name = user.name ?? user.username ?? user.primaryEmail ?? user.id;
    const address = (value: string | null, isVerified: boolean) =>
      value === null ? t.none : isVerified ? value : `${value} (${t.unverified})`;
    const email = address(user.primaryEmail, user.isEmailVerified);
    const phone = address(user.primaryPhone, user.isPhoneVerified);
    const recent = await readActivity(visit, 5);
    const left = [
      section(t.checkUp.heading, adviceList(visit, await checkUp(visit))),
      section(
        t.profile,
        rows([
          { label: t.name, value: user.name ?? t.none, url: `${base}/profile` },
          { label: t.username, value: user.username ?? t.none, url: `${base}/username` },
        ]),
      ),
      section(
        t.contact,
        rows([
          { label: t.email, value: email, url: `${base}/email` },
          { label: t.phone, value: phone, url: `${base}/phone` },
        ]),
      ),
    ];
    const right = [
      section(t.security, rows(await securityRows(visit))),
      section(
        t.activity.heading,
        html`${entriesOrNone(visit, recent)}${recent.length > 0 && html`<p><a href="${base}/activity">${t.activity.all}</a></p>`}`,
      ),
    ];
    const signOut = form(
      formAt(visit, '/sign-out'),
      html`<button class="quiet" type="submit">${t.signOut}</button>`,
    );
    return {
      heading: t.account,
      lead: t.signedInAs(name),
      picture: pictureOf(name, user.avatar),
      isWide: true,
      problem: request.query.has(refusedParameter) ? t.notAllowed : undefined,
      body: html`${noteOfDone(visit, request)}<div class="columns"><div>${left}</div><div>${right}</div></div>${signOut}<p class="below"><a class="bad" href="${base}/delete">${t.deleteAccount}</a></p>`,
    };
  },
};

/** The person's picture, and what stands for it where there is none or it cannot be loaded. */
function pictureOf(name: string, avatar: string | null): Picture {
  const words = name.split(/[\s._@-]+/).filter(Boolean);
  const initials = [words.at(0), words.length > 1 ? words.at(-1) : undefined].map(
    (word) => [...(word ?? '')][0]?.toUpperCase() ?? '',
  );
  return {
    initials: initials.join(''),
    url: avatar !== null && URL.canParse(avatar) && /^https?:/i.test(avatar) ? avatar : null,
  };
}

async function securityRows({ context, texts: t, base, user, settings }: AccountVisit) {
  const { prisma } = context.database;
  const where = { userId: user.id };
  const [sessions, factors, organizations, identities, applications, providers] = await Promise.all(
    [
      prisma.session.count({ where: { ...where, expiresAt: { gt: context.clock.now() } } }),
      prisma.userFactor.count({ where }),
      prisma.organizationUser.count({ where }),
      prisma.userIdentity.count({ where }),
      prisma.userGrant.count({ where }),
      listSocialProviders(prisma),
    ],
  );
  const row = (name: 'password' | 'factors' | 'sessions' | Link, value: string): Row => ({
    label: t[name],
    value,
    url: `${base}/${name}`,
  });
  const counted = (name: 'factors' | Link, count: number) =>
    row(name, count === 0 ? t.none : String(count));
  return [
    ...(settings.passwordEnabled
      ? [row('password', user.passwordDigest === null ? t.notSet : t.isSet)]
      : []),
    ...(settings.factors.length > 0 || factors > 0 ? [counted('factors', factors)] : []),
    row('sessions', t.sessionCount(sessions)),
    ...(identities > 0 || providers.length > 0 ? [counted('identities', identities)] : []),
    ...(applications > 0 ? [counted('applications', applications)] : []),
    ...(organizations > 0 ? [counted('organizations', organizations)] : []),
  ];
}

type Link = 'identities' | 'applications' | 'organizations';
