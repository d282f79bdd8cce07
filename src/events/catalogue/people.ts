import { define } from './definition.ts';
import {
  id,
  idOf,
  idOrNull,
  idOrNullOf,
  integerOrNull,
  oneOf,
  oneOfOrNull,
  text,
  textOrNull,
  texts,
  untyped,
} from './fields.ts';

const user = idOf({ model: 'User', name: 'user', description: 'The user' });
const userOrNull = idOrNullOf({
  model: 'User',
  name: 'user',
  description: 'The user, where one is known,',
});
const application = idOf({
  model: 'Application',
  name: 'application',
  description: 'The application',
});
const applicationOrNull = idOrNullOf({
  model: 'Application',
  name: 'application',
  description: 'The application, where it is known,',
});
const ip = textOrNull(
  "The client's IP address; of an event about those left out, the address that has reached the limit.",
  '192.0.2.1',
);
const userAgent = textOrNull('The `User-Agent` header.', 'test');
const suppressed = integerOrNull(
  'How many such events were left out for the application, or for the address, in the minute before; the rest is null then. With neither: of many addresses without an application, which have 600 a minute together. Null: none was.',
);

/** What happens to people's accounts, sessions and rights, beside what the first catalogue tells. */
export const people = {
  'User.Session.Ended': define({
    description:
      'A session ended before it expired, or a sign-out ended the tokens that were issued.',
    data: {
      userId: user,
      sessionId: textOrNull("The session's id; null if only tokens ended.", 'test'),
      reason: oneOf(
        ['SIGN_OUT', 'ENDED', 'PASSWORD', 'SUSPENSION', 'DELETION'],
        'Why: SIGN_OUT by the person, ENDED by somebody else, from another session or because a code or a refresh token was used twice, or with a change of the password, a suspension or the deletion.',
      ),
    },
    subject: 'userId',
  }),
  'User.Credential.Updated': define({
    description: 'What a user signs in with was added, changed or removed.',
    data: {
      userId: user,
      credential: oneOf(
        ['PASSWORD', 'TOTP', 'PASSKEY', 'BACKUP_CODES', 'IDENTITY', 'PERSONAL_ACCESS_TOKEN'],
        'The kind of credential.',
      ),
      credentialId: idOrNull("The credential's id, where it has one."),
      change: oneOf(['ADDED', 'CHANGED', 'REMOVED'], 'What happened to it.'),
      // Untyped: in GraphQL, `name` is the name of the type of the event.
      name: untyped(textOrNull('Its name, where it has one.')),
    },
    subject: 'userId',
  }),
  'User.Impersonation.Started': define({
    description: 'Somebody got a subject token, to act for a user.',
    data: {
      userId: user,
      subjectTokenId: id('SubjectToken', 'The subject token.'),
      applicationId: applicationOrNull,
      reason: text('The reason given.'),
    },
    subject: 'userId',
  }),
  'OneTimeToken.Created': define({
    description: 'A one-time token was created, which signs in whoever has it.',
    data: {
      oneTimeTokenId: id('OneTimeToken', 'The one-time token.'),
      email: text('The e-mail address that it is for.', 'test@example.com'),
    },
    subject: null,
  }),
  'User.Grant.Created': define({
    description: 'A user allowed an application to act for them, or to do more than before.',
    data: {
      userId: user,
      grantId: id('UserGrant', 'The grant.'),
      applicationId: application,
      scopes: texts('The scopes that the application got and did not have before.'),
    },
    subject: 'userId',
  }),
  'User.Grant.Revoked': define({
    description: 'An application may no longer act for a user.',
    data: {
      userId: user,
      grantId: id('UserGrant', 'The grant.'),
      applicationId: application,
      scopes: texts('The scopes that the application had.'),
    },
    subject: 'userId',
  }),
  'Identifier.Unlocked': define({
    description: 'The lockout of an identifier was lifted.',
    data: {
      // Untyped: in GraphQL, `type` is the type of the event.
      type: untyped(oneOf(['username', 'email', 'phone'], 'The kind of identifier.', 'email')),
      value: text('The identifier.', 'test@example.com'),
    },
    subject: null,
  }),
  'SignIn.Failed': define({
    description:
      'A sign-in failed. At most 60 a minute are told for each application and each address; one more event says how many were left out.',
    data: {
      identifierType: oneOfOrNull(
        ['username', 'email', 'phone'],
        'The kind of identifier, where there is one.',
        'email',
      ),
      userId: userOrNull,
      method: oneOfOrNull(
        ['PASSWORD', 'CODE', 'ONE_TIME_TOKEN', 'TOTP', 'PASSKEY', 'BACKUP_CODE', 'PROVIDER'],
        'What was tried.',
      ),
      reason: oneOfOrNull(
        ['CREDENTIAL', 'FACTOR', 'LOCKED', 'SUSPENDED', 'PROVIDER'],
        'Why it failed: the CREDENTIAL or the second FACTOR was wrong, the identifier was LOCKED and nothing was checked, the user is SUSPENDED and the credential was right, or the identity PROVIDER did not sign the person in.',
      ),
      applicationId: applicationOrNull,
      ip,
      userAgent,
      suppressed,
    },
    subject: 'userId',
  }),
  'Token.Refused': define({
    description:
      'The token endpoint refused a request. At most 60 a minute are told for each application and each address; one more event says how many were left out.',
    data: {
      grantType: textOrNull('The grant type that was sent.', 'client_credentials'),
      applicationId: applicationOrNull,
      rule: textOrNull(
        'The rule of the exchange that refused it: an `ExchangeRule`. Null for other grants.',
      ),
      error: textOrNull('The error code (RFC 6749 §5.2).', 'invalid_grant'),
      resource: textOrNull('The resource asked for.', 'https://api.example.com'),
      userId: userOrNull,
      ip,
      suppressed,
    },
    subject: 'applicationId',
  }),
};
