import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { GraphQLError } from 'graphql';
import { NotAllowedError, VerificationRequiredError } from '../../errors.ts';
import type { Html } from '../../markup.ts';
import { rootOf } from '../../oidc/first-party/app.ts';
import { mountSignIn, type SignInPages } from '../../oidc/first-party/mount.ts';
import { useFirstPartySession } from '../../oidc/first-party/session.ts';
import type { Services, ViewerContext } from '../../services.ts';
import { callOf } from '../../web/call.ts';
import { isOwnForm } from '../../web/form-token.ts';
import { lookFor, spokenBy } from '../../web/look.ts';
import { type Content, goOn, sendPage } from '../../web/page.ts';
import { mountSite, redirect } from '../../web/site.ts';
import { openVisit } from '../../web/visit.ts';
import { visitorOf } from '../../web/visitor.ts';
import { accountApp } from '../app.ts';
import { assertProved } from '../operations/proof.ts';
import { cannotBeUsed, readViewer } from '../operations/viewer.ts';
import { LastWayInError } from '../operations/ways-in.ts';
import { activityPage } from '../pages/activity.ts';
import { emailPage, phonePage } from '../pages/address.ts';
import { applicationsPage } from '../pages/applications.ts';
import { deletePage } from '../pages/delete.ts';
import { addFactorPages } from '../pages/factors/add.ts';
import { factorsPage } from '../pages/factors/list.ts';
import { identitiesPage } from '../pages/identities.ts';
import { invitationPage } from '../pages/invitation.ts';
import { organizationsPage } from '../pages/organizations.ts';
import { overviewPage } from '../pages/overview.ts';
import { passwordPage } from '../pages/password.ts';
import { profilePage } from '../pages/profile.ts';
import { proofPage } from '../pages/proof.ts';
import { sessionsPage } from '../pages/sessions.ts';
import { usernamePage } from '../pages/username.ts';
import { pathToVerify, verifyPage } from '../pages/verify.ts';
import { refusedParameter } from './frame.ts';
import { type AccountTexts, accountTexts } from './texts.ts';
import type { AccountPage, AccountVisit } from './visit.ts';

const root = rootOf(accountApp);
const pages: readonly AccountPage[] = [
  overviewPage,
  profilePage,
  usernamePage,
  emailPage,
  phonePage,
  passwordPage,
  sessionsPage,
  activityPage,
  organizationsPage,
  invitationPage,
  applicationsPage,
  identitiesPage,
  factorsPage,
  ...Object.values(addFactorPages),
  deletePage,
  verifyPage,
  proofPage,
];

/** Mounts the pages of the account at `/account`. */
export const mountAccountPages = (http: FastifyInstance, services: Services): Promise<void> =>
  mountSite<AccountVisit, AccountPage>(http, services, {
    root,
    pages,
    // Another browser may have changed the account since.
    standsSeconds: 60,
    async open({ request }, page) {
      const context = await findContext(services, request);
      if (!context) throw cannotBeUsed();
      const user = await readViewer(context);
      if (page.needsProof) await assertProved(context);
      const formSubject = formSubjectOf(context);
      const site = { path: root, userId: user.id, texts: accountTexts, formSubject };
      const visit = await openVisit(context, site);
      return { ...visit, user };
    },
    explain: ({ texts: t }, failure) =>
      failure instanceof LastWayInError ? { status: 422, text: t.lastWayIn } : undefined,
    refuse(failure, { request, reply }, page) {
      const to = placeFor(failure, request, page);
      return to === undefined ? undefined : redirect(reply, `${services.baseUrl}${root}${to}`);
    },
    mountOthers(scope) {
      mountSignIn(scope, services, accountApp, signInPages(services));
      scope.get(`${root}/deleted`, (request, reply) =>
        sendPlain(services, request, reply, (t) => ({
          heading: t.deleted,
          lead: t.deletedLead,
          body: goOn(services.baseUrl, t.ok),
        })),
      );
    },
  });

/** Where a refusal leads that no page can show, as a path below the first page; undefined after a fault. */
function placeFor(
  failure: unknown,
  { url }: FastifyRequest,
  { path }: AccountPage,
): string | undefined {
  if (failure instanceof VerificationRequiredError) return pathToVerify(`${root}${path}`);
  // Something that a page shows was switched off meanwhile.
  if (failure instanceof NotAllowedError) return `?${refusedParameter}=yes`;
  const isSignedOut =
    failure instanceof GraphQLError && failure.extensions['code'] === 'UNAUTHENTICATED';
  // The session may have ended while a form was open: the sign-in leads back to its page.
  return isSignedOut ? `/sign-in?${new URLSearchParams({ to: url })}` : undefined;
}

/** The person in the browser's session; undefined without one. */
async function findContext(
  services: Services,
  request: FastifyRequest,
): Promise<ViewerContext | undefined> {
  const { cookie: cookies } = request.headers;
  const session = await useFirstPartySession(services, accountApp, { cookies });
  if (!session) return undefined;
  const { userId, grant, scopes } = session;
  const { applicationId: clientId } = accountApp;
  return {
    ...services,
    actor: { type: 'USER', id: userId, clientId },
    ...callOf(request),
    viewer: { userId, clientId, session: grant, scopes },
    visitor: visitorOf(request),
  };
}

const formSubjectOf = ({ viewer: { session } }: ViewerContext) => `account:${session}`;

const signInPages = (services: Services): SignInPages => ({
  failed: (request, reply) =>
    sendPlain(services, request, reply, (t) => ({
      heading: t.signInFailed,
      lead: t.signInFailedLead,
      body: signInButton(services, t),
    })),
  signedOut: (request, reply) =>
    sendPlain(services, request, reply, (t) => ({
      heading: t.signedOut,
      lead: t.signedOutLead,
      body: signInButton(services, t),
    })),
  async maySignOut(request) {
    const context = await findContext(services, request);
    if (!context) return true;
    const form = request.body instanceof URLSearchParams ? request.body : new URLSearchParams();
    return isOwnForm(context, request.headers, form, formSubjectOf(context));
  },
  signOutRefused: async (_request, reply) => redirect(reply, `${services.baseUrl}${root}`),
});

const signInButton = ({ baseUrl }: Services, t: AccountTexts): Html =>
  goOn(`${baseUrl}${root}/sign-in`, t.signIn);

/** Sends a page that needs no session. */
async function sendPlain(
  services: Services,
  request: FastifyRequest,
  reply: FastifyReply,
  contentIn: (t: AccountTexts) => Content,
): Promise<FastifyReply> {
  const look = await lookFor(services, spokenBy(request));
  return sendPage(reply, look, contentIn(accountTexts[look.language]));
}
