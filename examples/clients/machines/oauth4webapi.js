// Gets tokens without a browser, by oauth4webapi: `npm install oauth4webapi`. The first is the service's own; the
// second is for acting for whoever called it, by an exchange of their token (RFC 8693).
import * as oauth from 'oauth4webapi';

const { ISSUER, CLIENT_ID, CLIENT_SECRET, API, API_URL, SUBJECT_TOKEN } = process.env;
const client = { client_id: CLIENT_ID };
const authentication = oauth.ClientSecretBasic(CLIENT_SECRET);
// Only for tries on this machine.
const options = { [oauth.allowInsecureRequests]: ISSUER.startsWith('http://localhost') };
const issuer = new URL(ISSUER);
const server = await oauth.processDiscoveryResponse(
  issuer,
  await oauth.discoveryRequest(issuer, options),
);
const target = { resource: API, scope: 'orders:read' };

/** Calls the API with the token of an answer. */
async function call({ access_token }) {
  const answer = await fetch(API_URL, { headers: { authorization: `Bearer ${access_token}` } });
  console.log(await answer.text());
}

const own = await oauth.processClientCredentialsResponse(
  server,
  client,
  await oauth.clientCredentialsGrantRequest(server, client, authentication, target, options),
);
await call(own);

const exchanged = await oauth.processGenericTokenEndpointResponse(
  server,
  client,
  await oauth.genericTokenEndpointRequest(
    server,
    client,
    authentication,
    'urn:ietf:params:oauth:grant-type:token-exchange',
    {
      subject_token: SUBJECT_TOKEN,
      subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      ...target,
    },
    options,
  ),
);
await call(exchanged);
