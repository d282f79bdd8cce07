// Service B with Express, passport-jwt and jwks-rsa. In NestJS the same options go to `PassportStrategy(Strategy)`.
import express from 'express';
import jwksRsa from 'jwks-rsa';
import passport from 'passport';
import { ExtractJwt, Strategy } from 'passport-jwt';

const { ISSUER, API, SCOPE, PORT = '4000' } = process.env;

passport.use(
  new Strategy(
    {
      jwtFromRequest: ExtractJwt.fromAuthHeaderAsBearerToken(),
      secretOrKeyProvider: jwksRsa.passportJwtSecret({
        jwksUri: `${ISSUER}/jwks`,
        rateLimit: true,
      }),
      issuer: ISSUER,
      audience: API,
      // The values of SIGNING_ALG that you have used; EdDSA cannot be among them.
      algorithms: ['ES256', 'ES384', 'PS256', 'RS256'],
      // Without it nobody sees the header, and so the type.
      jsonWebTokenOptions: { complete: true },
    },
    ({ header, payload }, done) => {
      const isAccessToken =
        header.typ === 'at+jwt' && payload.exp && payload.sub && payload.client_id;
      done(null, isAccessToken && payload);
    },
  ),
);

const app = express();
app.use(passport.authenticate('jwt', { session: false }));
app.get('/', (request, response) => {
  if (!request.user.scope?.split(' ').includes(SCOPE)) return response.sendStatus(403);
  response.json({ user: request.user.sub });
});

const server = app.listen(Number(PORT), 'localhost', () => {
  console.log(`Service B listens on port ${server.address().port}.`);
});
