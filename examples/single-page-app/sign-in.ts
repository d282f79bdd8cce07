// Signs in users of a single-page app: authorization code with PKCE, no secret. Bundle it with oauth4webapi.
import * as oauth from 'oauth4webapi';

const issuer = new URL('https://id.example.com/oidc');
// The id that createApplication returned for the type SPA.
const client: oauth.Client = { client_id: 'app_01h455vb4pex5vsknk084sn02q' };
// One of the application's redirectUris.
const redirectUri = `${location.origin}/callback`;
// The API that the app calls. The access token is only for this API.
const resource = 'https://gateway.example.com';

const discover = async () =>
  oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer));

/** Sends the browser to the sign-in page. */
export async function signIn(): Promise<void> {
  const { authorization_endpoint } = await discover();
  if (!authorization_endpoint) throw new Error('The issuer has no authorization endpoint.');
  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  sessionStorage.setItem('sign-in', JSON.stringify({ verifier, state }));
  const url = new URL(authorization_endpoint);
  url.search = new URLSearchParams({
    client_id: client.client_id,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: 'openid profile',
    resource,
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  }).toString();
  location.assign(url);
}

/** Handles the return to the redirect URI, and gets the tokens. Keep them in memory, not in storage. */
export async function finishSignIn(): Promise<oauth.TokenEndpointResponse> {
  const server = await discover();
  const { verifier, state } = JSON.parse(sessionStorage.getItem('sign-in') ?? '{}');
  sessionStorage.removeItem('sign-in');
  const answer = oauth.validateAuthResponse(server, client, new URL(location.href), state);
  const response = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    oauth.None(),
    answer,
    redirectUri,
    verifier,
    { additionalParameters: { resource } },
  );
  return oauth.processAuthorizationCodeResponse(server, client, response, {
    requireIdToken: true,
  });
}
