// Service B with Express and express-oauth2-jwt-bearer. By `strict` it checks all that an access token has to be.
import express from 'express';
import { auth, requiredScopes } from 'express-oauth2-jwt-bearer';

const { ISSUER, API, SCOPE, PORT = '4000' } = process.env;

const app = express();
app.use(auth({ issuerBaseURL: ISSUER, audience: API, strict: true }));
app.get('/', requiredScopes(SCOPE), (request, response) => {
  response.json({ user: request.auth.payload.sub });
});
// What is refused is no error of this service: Express would print each.
app.use((error, _request, response, _next) => {
  response
    .status(error.status ?? 500)
    .set(error.headers ?? {})
    .end();
});

const server = app.listen(Number(PORT), 'localhost', () => {
  console.log(`Service B listens on port ${server.address().port}.`);
});
