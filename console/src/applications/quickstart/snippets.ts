import { quoted } from '../../kit/controls/copy-as.tsx';
import { serviceUrl } from '../../kit/service-url.ts';
import { keepsSecret, type ShownApplication, signsIn } from '../types.ts';

/** What a snippet is for, and its text. */
interface Snippet {
  readonly id: 'settings' | 'express' | 'fastify' | 'next' | 'spa' | 'curl' | 'node';
  readonly text: string;
}

const issuer = `${serviceUrl}/oidc`;
const scope = 'openid profile email';

/** Over http, only for a service on the developer's own machine, libraries want to be told. */
const isInsecure = serviceUrl.startsWith('http:');

/** A text as JavaScript. */
const js = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

/** The snippets for an application, those that fit its type; the first is the one to begin with. */
export function snippetsOf(application: ShownApplication, resource: string): readonly Snippet[] {
  if (!signsIn(application.type))
    return [
      { id: 'curl', text: clientCredentials(application, resource) },
      { id: 'node', text: machine(application, resource) },
    ];
  const settings = { id: 'settings', text: settingsOf(application) } as const;
  const curl = { id: 'curl', text: codeByHand(application) } as const;
  if (application.type !== 'TRADITIONAL')
    return application.type === 'SPA'
      ? [settings, { id: 'spa', text: singlePage(application) }, curl]
      : [settings, curl];
  return [
    settings,
    { id: 'express', text: express(application) },
    { id: 'fastify', text: fastify(application) },
    { id: 'next', text: next(application) },
    curl,
  ];
}

const redirectOf = ({ redirectUris }: ShownApplication): string =>
  redirectUris.find((uri) => /^https?:/.test(uri)) ??
  redirectUris[0] ??
  'http://localhost:8080/callback';

const settingsOf = ({ id, type, redirectUris, postLogoutRedirectUris }: ShownApplication): string =>
  [
    `OIDC_ISSUER=${issuer}`,
    `OIDC_CLIENT_ID=${id}`,
    ...(keepsSecret(type) ? ['OIDC_CLIENT_SECRET='] : []),
    `OIDC_REDIRECT_URI=${redirectUris[0] ?? ''}`,
    ...postLogoutRedirectUris.slice(0, 1).map((uri) => `OIDC_POST_LOGOUT_REDIRECT_URI=${uri}`),
    `OIDC_SCOPE="${scope}"`,
  ].join('\n');

const clientCredentials = ({ id }: ShownApplication, resource: string): string =>
  `curl -s ${quoted(`${issuer}/token`)} -u "${id}:$CLIENT_SECRET" \\
  -d grant_type=client_credentials \\
  --data-urlencode ${quoted(`resource=${resource}`)}`;

/** The lines that find the service, for openid-client. */
function discovery(id: string, isPublic = false): string {
  const insecure = '{ execute: [oidc.allowInsecureRequests] }';
  const more = isPublic
    ? `undefined, oidc.None()${isInsecure ? `, ${insecure}` : ''}`
    : `process.env.CLIENT_SECRET${isInsecure ? `, undefined, ${insecure}` : ''}`;
  return `const config = await oidc.discovery(new URL(${js(issuer)}), ${js(id)}, ${more});`;
}

const machine = ({ id }: ShownApplication, resource: string): string =>
  `// npm install openid-client; CLIENT_SECRET is the secret of the application.
import * as oidc from 'openid-client';

${discovery(id)}
const token = await oidc.clientCredentialsGrant(config, { resource: ${js(resource)} });
console.log(token.access_token, token.expires_in);`;

const authorizationUrl = `oidc.buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    scope: ${js(scope)},
    state,
    code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  })`;

const codeGrant = (url: string, pending: string) => `oidc.authorizationCodeGrant(config, ${url}, {
    pkceCodeVerifier: ${pending}.verifier,
    expectedState: ${pending}.state,
  })`;

/** The path of the redirect URI, and the port that it names. */
function placeOf(application: ShownApplication) {
  const redirectUri = redirectOf(application);
  const url = URL.canParse(redirectUri) ? new URL(redirectUri) : undefined;
  return { redirectUri, path: url?.pathname ?? '/callback', port: url?.port || '8080' };
}

function express(application: ShownApplication): string {
  const { redirectUri, path, port } = placeOf(application);
  return `// npm install express express-session openid-client
// CLIENT_SECRET is the secret of the application, SESSION_SECRET a long random text of your own.
import express from 'express';
import session from 'express-session';
import * as oidc from 'openid-client';

const redirectUri = ${js(redirectUri)};
${discovery(application.id)}

const app = express();
app.use(
  session({
    secret: process.env.SESSION_SECRET,
    resave: false,
    saveUninitialized: false,
    cookie: { httpOnly: true, sameSite: 'lax', secure: redirectUri.startsWith('https:') },
  }),
);

app.get('/sign-in', async (request, response) => {
  const verifier = oidc.randomPKCECodeVerifier();
  const state = oidc.randomState();
  request.session.pending = { verifier, state };
  const url = ${authorizationUrl};
  response.redirect(url.href);
});

app.get(${js(path)}, async (request, response) => {
  const { pending = {} } = request.session;
  const tokens = await ${codeGrant('new URL(request.originalUrl, redirectUri)', 'pending')};
  // A new session: nobody who knew the old one is signed in.
  request.session.regenerate(() => {
    request.session.user = tokens.claims().sub;
    response.redirect('/');
  });
});

app.get('/', (request, response) => {
  const { user } = request.session;
  response.send(user ? \`Signed in as \${user}\` : '<a href="/sign-in">Sign in</a>');
});

app.listen(${port});`;
}

function fastify(application: ShownApplication): string {
  const { redirectUri, path, port } = placeOf(application);
  return `// npm install fastify @fastify/cookie @fastify/session openid-client
// CLIENT_SECRET is the secret of the application, SESSION_SECRET a long random text of your own.
import cookie from '@fastify/cookie';
import session from '@fastify/session';
import Fastify from 'fastify';
import * as oidc from 'openid-client';

const redirectUri = ${js(redirectUri)};
${discovery(application.id)}

const app = Fastify();
await app.register(cookie);
await app.register(session, {
  secret: process.env.SESSION_SECRET,
  saveUninitialized: false,
  cookie: { httpOnly: true, sameSite: 'lax', secure: redirectUri.startsWith('https:') },
});

app.get('/sign-in', async (request, reply) => {
  const verifier = oidc.randomPKCECodeVerifier();
  const state = oidc.randomState();
  request.session.pending = { verifier, state };
  const url = ${authorizationUrl};
  return reply.redirect(url.href);
});

app.get(${js(path)}, async (request, reply) => {
  const { pending = {} } = request.session;
  const tokens = await ${codeGrant('new URL(request.url, redirectUri)', 'pending')};
  // A new session: nobody who knew the old one is signed in.
  await request.session.regenerate();
  request.session.user = tokens.claims().sub;
  return reply.redirect('/');
});

app.get('/', async (request, reply) => {
  const { user } = request.session;
  reply.type('text/html');
  return user ? \`Signed in as \${user}\` : '<a href="/sign-in">Sign in</a>';
});

await app.listen({ port: ${port} });`;
}

function next(application: ShownApplication): string {
  const { redirectUris } = application;
  const ending = '/api/auth/callback/signet';
  const own = redirectUris.find((uri) => uri.endsWith(ending));
  return `// npm install next-auth@beta
// In .env.local: CLIENT_SECRET, the secret of the application, and AUTH_SECRET, which \`npx auth secret\` makes.
// Redirect URI: ${own ?? `http://localhost:3000${ending}, to add under Settings`}

// auth.js
import NextAuth from 'next-auth';

export const { handlers, auth, signIn, signOut } = NextAuth({
  providers: [
    {
      id: 'signet',
      name: 'Signet',
      type: 'oidc',
      issuer: ${js(issuer)},
      clientId: ${js(application.id)},
      clientSecret: process.env.CLIENT_SECRET,
      authorization: { params: { scope: ${js(scope)} } },
      checks: ['pkce', 'state'],
    },
  ],
});

// app/api/auth/[...nextauth]/route.js
import { handlers } from '@/auth';

export const { GET, POST } = handlers;

// app/page.js
import { auth, signIn } from '@/auth';

export default async function Page() {
  const session = await auth();
  if (session) return <p>Signed in as {session.user?.name ?? session.user?.email}</p>;
  const begin = async () => {
    'use server';
    await signIn('signet');
  };
  return (
    <form action={begin}>
      <button>Sign in</button>
    </form>
  );
}`;
}

const singlePage = (application: ShownApplication): string =>
  `// npm install openid-client
import * as oidc from 'openid-client';

const redirectUri = ${js(redirectOf(application))};
${discovery(application.id, true)}

/** Leads to the sign-in page. Call it from a button. */
export async function signIn() {
  const verifier = oidc.randomPKCECodeVerifier();
  const state = oidc.randomState();
  sessionStorage.setItem('sign-in', JSON.stringify({ verifier, state }));
  const url = ${authorizationUrl};
  location.assign(url);
}

/** Gets the tokens. Call it on the page of the redirect URI; keep them in memory, not in storage. */
export async function finishSignIn() {
  const pending = JSON.parse(sessionStorage.getItem('sign-in') ?? '{}');
  sessionStorage.removeItem('sign-in');
  return ${codeGrant('new URL(location.href)', 'pending')};
}`;

function codeByHand(application: ShownApplication): string {
  const { id, type } = application;
  const redirectUri = redirectOf(application);
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: id,
    redirect_uri: redirectUri,
    scope,
  });
  const client = keepsSecret(type) ? ` -u "${id}:$CLIENT_SECRET"` : '';
  return `VERIFIER=$(openssl rand -hex 32)
CHALLENGE=$(printf %s "$VERIFIER" | openssl dgst -sha256 -binary | openssl base64 | tr '+/' '-_' | tr -d '=')
echo "Open this address and sign in:"
echo ${quoted(`${issuer}/auth?${query}&code_challenge_method=S256&code_challenge=`)}"$CHALLENGE"
echo "Then paste the code of the address that it leads to:"
read -r CODE
curl -s ${quoted(`${issuer}/token`)}${client} \\
  -d grant_type=authorization_code -d "code_verifier=$VERIFIER" \\
  --data-urlencode "code=$CODE"${keepsSecret(type) ? '' : ` -d client_id=${id}`} \\
  --data-urlencode ${quoted(`redirect_uri=${redirectUri}`)}`;
}
