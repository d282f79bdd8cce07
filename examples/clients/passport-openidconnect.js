// Signs people in with passport-openidconnect: `npm install passport passport-openidconnect express express-session`. It
// has no PKCE, so its application has `requirePkce: false`; and no way to name an API.
import { randomBytes } from 'node:crypto';
import express from 'express';
import session from 'express-session';
import passport from 'passport';
import OpenIDConnectStrategy from 'passport-openidconnect';

const { ISSUER, CLIENT_ID, CLIENT_SECRET, PORT = '4100' } = process.env;
const baseUrl = `http://localhost:${PORT}`;

passport.use(
  new OpenIDConnectStrategy(
    {
      issuer: ISSUER,
      authorizationURL: `${ISSUER}/auth`,
      tokenURL: `${ISSUER}/token`,
      userInfoURL: `${ISSUER}/me`,
      clientID: CLIENT_ID,
      clientSecret: CLIENT_SECRET,
      callbackURL: `${baseUrl}/callback`,
      scope: ['profile', 'email'],
      // Without PKCE it is what keeps somebody else's code out of this browser.
      nonce: true,
      // Otherwise it asks for user info only where the function below has nine parameters.
      skipUserProfile: false,
    },
    (_issuer, profile, _context, idToken, done) =>
      done(null, {
        sub: profile.id,
        name: profile.displayName,
        email: profile.emails[0].value,
        idToken,
      }),
  ),
);
passport.serializeUser((user, done) => done(null, user));
passport.deserializeUser((user, done) => done(null, user));

const app = express();
app.use(
  session({ secret: randomBytes(32).toString('hex'), resave: false, saveUninitialized: false }),
);
app.use(passport.session());

app.get('/', (request, response) => response.json(request.user ?? null));

app.get('/sign-in', passport.authenticate('openidconnect'));

app.get(
  '/callback',
  passport.authenticate('openidconnect', { successRedirect: '/', failureRedirect: '/sign-in' }),
);

app.get('/profile', (request, response) => response.json(request.user));

app.get('/sign-out', async (request, response) => {
  const { idToken } = request.user;
  await new Promise((resolve) => request.session.destroy(resolve));
  const leave = new URLSearchParams({ id_token_hint: idToken, post_logout_redirect_uri: baseUrl });
  response.redirect(`${ISSUER}/session/end?${leave}`);
});

app.listen(Number(PORT), 'localhost', () => console.log(`The client listens on port ${PORT}.`));
