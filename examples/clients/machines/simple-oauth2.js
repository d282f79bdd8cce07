// Gets tokens without a browser, by simple-oauth2: `npm install simple-oauth2`. The first is the service's own; the
// second is for acting for whoever called it, by an exchange of their token (RFC 8693), which it has no function for:
// parameters of the same names replace its own.
import { ClientCredentials } from 'simple-oauth2';

const { ISSUER, CLIENT_ID, CLIENT_SECRET, API, API_URL, SUBJECT_TOKEN } = process.env;
const client = new ClientCredentials({
  client: { id: CLIENT_ID, secret: CLIENT_SECRET },
  auth: { tokenHost: new URL(ISSUER).origin, tokenPath: '/oidc/token' },
});
const target = { resource: API, scope: 'orders:read' };

/** Calls the API with the token of an answer. */
async function call({ token }) {
  const answer = await fetch(API_URL, {
    headers: { authorization: `Bearer ${token.access_token}` },
  });
  console.log(await answer.text());
}

const own = await client.getToken(target);
await call(own);

const exchanged = await client.getToken({
  grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
  subject_token: SUBJECT_TOKEN,
  subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
  ...target,
});
await call(exchanged);
