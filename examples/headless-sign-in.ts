// Signs a person in without a browser: CLIENT_ID=app_… USER_NAME=ada PASSWORD=… node examples/headless-sign-in.ts
// The application is NATIVE, with `allowHeadlessSignIn` and the redirect URI com.example.app:/callback.
import * as oidc from 'openid-client';

const { SIGNET = 'http://localhost:3000', CLIENT_ID = '', USER_NAME, PASSWORD } = process.env;
const headers = new Headers({ 'content-type': 'application/json' });

async function take(step: string, input: object, asked = 'interaction { nextSteps }') {
  const type = step.charAt(0).toUpperCase() + step.slice(1);
  const query = `mutation ($input: ${type}Input!) { ${step}(input: $input) {
    ... on Error { message } ... on ${type}Payload { ${asked} } } }`;
  const body = JSON.stringify({ query, variables: { input } });
  const response = await fetch(`${SIGNET}/experience/graphql`, { method: 'POST', headers, body });
  const { data, errors } = await response.json();
  const answer = errors?.[0] ?? data[step];
  if (answer.message) throw new Error(answer.message);
  return answer;
}

const pkceCodeVerifier = oidc.randomPKCECodeVerifier();
const codeChallenge = await oidc.calculatePKCECodeChallenge(pkceCodeVerifier);
const request = { clientId: CLIENT_ID, redirectUri: 'com.example.app:/callback', codeChallenge };
const { interactionToken } = await take('startInteraction', request, 'interactionToken');
headers.set('authorization', `Interaction ${interactionToken}`);
await take('signInWithPassword', { identifier: USER_NAME, password: PASSWORD });
const { redirectTo } = await take('submitInteraction', {}, 'redirectTo');
const http = { execute: [oidc.allowInsecureRequests] };
const config = await oidc.discovery(new URL(`${SIGNET}/oidc`), CLIENT_ID, {}, oidc.None(), http);
const tokens = await oidc.authorizationCodeGrant(config, new URL(redirectTo), { pkceCodeVerifier });
console.log(tokens.claims());
