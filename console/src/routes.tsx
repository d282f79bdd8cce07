import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  type RouteComponent,
} from '@tanstack/react-router';
import { parseAddress, writeAddress } from './kit/address.ts';
import { Page } from './kit/records/page.tsx';
import { servicePath } from './kit/service-url.ts';
import { requireSession } from './kit/session/require.ts';
import { Broken, NotFound } from './kit/states/failed.tsx';
import { Loading } from './kit/states/loading.tsx';
import { OverviewPage } from './overview/overview-page.tsx';
import { SessionRoute } from './shell/session-route.tsx';
import { Shell } from './shell/shell.tsx';

const root = createRootRoute({ component: Outlet });

const Pending = () => (
  <Page heading="Signet">
    <Loading />
  </Page>
);

const setup = createRoute({
  getParentRoute: () => root,
  path: '/setup',
  component: lazyRouteComponent(() => import('./setup/setup-page.tsx'), 'SetupPage'),
});

const inside = createRoute({
  getParentRoute: () => root,
  id: 'inside',
  beforeLoad: async () => ({ session: await requireSession() }),
  // The shell has the landmark, and is not there yet.
  pendingComponent: () => (
    <main>
      <Pending />
    </main>
  ),
  component: () => (
    <SessionRoute session={inside.useRouteContext().session}>
      <Shell />
    </SessionRoute>
  ),
});

const anyAddress = (address: Record<string, unknown>) => address as Record<string, string>;

const page = <const Path extends string>(path: Path, component: RouteComponent) =>
  createRoute({ getParentRoute: () => inside, path, component, validateSearch: anyAddress });

// One line for each page. Each is a chunk, loaded on navigation; but most visits begin with the first.
const pages = [
  page('/', OverviewPage),
  page(
    '/events',
    lazyRouteComponent(() => import('./events/events-page.tsx'), 'EventsPage'),
  ),
  page(
    '/users',
    lazyRouteComponent(() => import('./users/users-page.tsx'), 'UsersPage'),
  ),
  page(
    '/users/$id',
    lazyRouteComponent(() => import('./users/user-page.tsx'), 'UserPage'),
  ),
  page(
    '/roles',
    lazyRouteComponent(() => import('./roles/roles-page.tsx'), 'RolesPage'),
  ),
  page(
    '/roles/$id',
    lazyRouteComponent(() => import('./roles/role-page.tsx'), 'RolePage'),
  ),
  page(
    '/apis',
    lazyRouteComponent(() => import('./apis/apis-page.tsx'), 'ApisPage'),
  ),
  page(
    '/apis/$id',
    lazyRouteComponent(() => import('./apis/api-page.tsx'), 'ApiPage'),
  ),
  page(
    '/applications',
    lazyRouteComponent(() => import('./applications/applications-page.tsx'), 'ApplicationsPage'),
  ),
  page(
    '/applications/$id',
    lazyRouteComponent(() => import('./applications/application-page.tsx'), 'ApplicationPage'),
  ),
  page(
    '/agents',
    lazyRouteComponent(() => import('./applications/agents/agents-page.tsx'), 'AgentsPage'),
  ),
  page(
    '/organizations',
    lazyRouteComponent(() => import('./organizations/organizations-page.tsx'), 'OrganizationsPage'),
  ),
  page(
    '/organizations/$id',
    lazyRouteComponent(() => import('./organizations/organization-page.tsx'), 'OrganizationPage'),
  ),
  page(
    '/who-can',
    lazyRouteComponent(() => import('./permissions/who-can-page.tsx'), 'WhoCanPage'),
  ),
  page(
    '/explain',
    lazyRouteComponent(() => import('./permissions/explanation/explain-page.tsx'), 'ExplainPage'),
  ),
  page(
    '/refusals',
    lazyRouteComponent(() => import('./refusals/refusals-page.tsx'), 'RefusalsPage'),
  ),
  page(
    '/webhooks',
    lazyRouteComponent(() => import('./webhooks/webhooks-page.tsx'), 'WebhooksPage'),
  ),
  page(
    '/webhooks/$id',
    lazyRouteComponent(() => import('./webhooks/webhook-page.tsx'), 'WebhookPage'),
  ),
  page(
    '/sign-in-experience',
    lazyRouteComponent(
      () => import('./sign-in-experience/sign-in-experience-page.tsx'),
      'SignInExperiencePage',
    ),
  ),
  page(
    '/configuration',
    lazyRouteComponent(() => import('./configuration/configuration-page.tsx'), 'ConfigurationPage'),
  ),
  page(
    '/developers',
    lazyRouteComponent(() => import('./developers/developers-page.tsx'), 'DevelopersPage'),
  ),
  page(
    '/keys',
    lazyRouteComponent(() => import('./keys/keys-page.tsx'), 'KeysPage'),
  ),
  page(
    '/settings',
    lazyRouteComponent(() => import('./settings/settings-page.tsx'), 'SettingsPage'),
  ),
  // Any other address, within the frame.
  createRoute({ getParentRoute: () => inside, path: '$', component: () => <NotFound isPage /> }),
];

/** The router of the console. */
export const router = createRouter({
  routeTree: root.addChildren([setup, inside.addChildren(pages)]),
  basepath: `${servicePath}/console`,
  parseSearch: parseAddress,
  stringifySearch: writeAddress,
  defaultPreload: 'intent',
  defaultPendingMs: 300,
  // What is there is shown.
  defaultPendingMinMs: 0,
  defaultPendingComponent: Pending,
  defaultErrorComponent: Broken,
  defaultNotFoundComponent: () => <NotFound isPage />,
  scrollRestoration: true,
});
