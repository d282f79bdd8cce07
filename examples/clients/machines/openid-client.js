// Gets tokens without a browser, by openid-client: `npm install openid-client`. The first is the service's own; the
// second is for acting for whoever called it, by an exchange of their token (RFC 8693).
import * as oidc from 'openid-client';

const { ISSUER, CLIENT_ID, CLIENT_SECRET, API, API_URL, SUBJECT_TOKEN } = process.env;
const config = await oidc.discovery(new URL(ISSUER), CLIENT_ID, CLIENT_SECRET, undefined, {
  // Only for tries on this machine.
  execute: ISSUER.startsWith('http://localhost') ? [oidc.allowInsecureRequests] : [],
});
const target = { resource: API, scope: 'orders:read' };

/** Calls the API with the token of an answer. */
async function call({ access_token }) {
  const answer = await fetch(API_URL, { headers: { authorization: `Bearer ${access_token}` } });
  console.log(await answer.text());
}

const own = await oidc.clientCredentialsGrant(config, target);
await call(own);

const exchanged = await oidc.genericGrantRequest(
  config,
  'urn:ietf:params:oauth:grant-type:token-exchange',
  {
    subject_token: SUBJECT_TOKEN,
    subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    ...target,
  },
);
await call(exchanged);
