import { define, updated, written } from './definition.ts';
import { id, idOf, idOrNullOf, instant, integer, listOf, texts } from './fields.ts';
import { changes } from './records.ts';

const application = idOf({
  model: 'Application',
  name: 'application',
  description: 'The application',
});
const organization = idOf({
  model: 'Organization',
  name: 'organization',
  description: 'The organization',
});

const roleChanges = (model: 'Role' | 'OrganizationRole', noun: string) => ({
  added: listOf(id(model), 1, {
    model,
    name: `added${model}s`,
    description: `The ${noun}s that were given.`,
  }),
  removed: listOf(id(model), 0, {
    model,
    name: `removed${model}s`,
    description: `The ${noun}s that were taken away.`,
  }),
});
const roles = roleChanges('Role', 'role');
const organizationRoles = roleChanges('OrganizationRole', 'organization role');

/** What administrators set up, beside what the first catalogue tells. */
export const administration = {
  'Resource.Created': written('Resource', 'A resource was created.'),
  'Resource.Data.Updated': updated('Resource', "A resource's data changed."),
  'Resource.Deleted': written('Resource', 'A resource was deleted.'),

  'Application.Created': written('Application', 'An application was created.'),
  'Application.Data.Updated': updated('Application', "An application's data changed."),
  'Application.Deleted': written('Application', 'An application was deleted.'),
  'Application.Secrets.Updated': define({
    description: 'An application gained or lost a secret.',
    data: {
      applicationId: application,
      addedSecretIds: texts('The ids of the secrets that it gained.'),
      removedSecretIds: texts('The ids of the secrets that it lost.'),
    },
    subject: 'applicationId',
  }),
  'Application.Roles.Updated': define({
    description: 'An application gained or lost roles.',
    data: { applicationId: application, addedRoleIds: roles.added, removedRoleIds: roles.removed },
    subject: 'applicationId',
  }),

  'User.Roles.Updated': define({
    description: 'A user gained or lost roles.',
    data: {
      userId: idOf({ model: 'User', name: 'user', description: 'The user' }),
      addedRoleIds: roles.added,
      removedRoleIds: roles.removed,
    },
    subject: 'userId',
  }),

  'Webhook.Created': written('Webhook', 'A webhook was created.'),
  'Webhook.Data.Updated': updated(
    'Webhook',
    "A webhook's data changed. By `SYSTEM`: it was switched off by itself.",
  ),
  'Webhook.Deleted': written('Webhook', 'A webhook was deleted.'),
  'Webhook.Secret.Rotated': define({
    description: "A webhook's secret was replaced.",
    data: {
      webhookId: idOf({ model: 'Webhook', name: 'webhook', description: 'The webhook' }),
    },
    subject: 'webhookId',
  }),

  'IdentityProvider.Created': written('IdentityProvider', 'An identity provider was created.'),
  'IdentityProvider.Data.Updated': updated(
    'IdentityProvider',
    "An identity provider's data changed.",
  ),
  'IdentityProvider.Deleted': written('IdentityProvider', 'An identity provider was deleted.'),

  'TrustedIssuer.Created': written('TrustedIssuer', 'A trusted issuer was created.'),
  'TrustedIssuer.Data.Updated': updated('TrustedIssuer', 'The data of a trusted issuer changed.'),
  'TrustedIssuer.Deleted': written('TrustedIssuer', 'A trusted issuer was deleted.'),
  'CrossAppConnection.Created': written(
    'CrossAppConnection',
    'A connection of an application to another authorization server was created.',
  ),
  'CrossAppConnection.Data.Updated': updated(
    'CrossAppConnection',
    'The data of a connection of an application to another authorization server changed.',
  ),
  'CrossAppConnection.Deleted': written(
    'CrossAppConnection',
    'A connection of an application to another authorization server was deleted.',
  ),

  'OrganizationInvitation.Created': written(
    'OrganizationInvitation',
    'Somebody was invited to an organization.',
  ),
  'OrganizationInvitation.Data.Updated': updated(
    'OrganizationInvitation',
    'An invitation was accepted or revoked, or has expired.',
  ),
  'OrganizationInvitation.Deleted': written('OrganizationInvitation', 'An invitation was deleted.'),
  'Organization.MemberRoles.Updated': define({
    description: 'A member of an organization gained or lost organization roles.',
    data: {
      organizationId: organization,
      userId: idOrNullOf({
        model: 'User',
        name: 'user',
        description: 'The user; null if the member is an application,',
      }),
      applicationId: idOrNullOf({
        model: 'Application',
        name: 'application',
        description: 'The application; null if the member is a user,',
      }),
      addedOrganizationRoleIds: organizationRoles.added,
      removedOrganizationRoleIds: organizationRoles.removed,
    },
    subject: 'organizationId',
    sample: { applicationId: null },
  }),
  'Organization.Settings.Updated': define({
    description:
      "An organization's e-mail domains, identity providers or just-in-time roles changed.",
    data: { organizationId: organization, changes },
    subject: 'organizationId',
  }),

  'SigningKey.Rotated': define({
    description:
      'A new signing key was made; it signs after `SIGNING_KEY_LEAD_SECONDS`, or at once.',
    data: { signingKeyId: id('SigningKey', 'The new key.') },
    subject: 'signingKeyId',
  }),
  'SigningKey.Deleted': define({
    description: 'A signing key was deleted: what it signed is refused.',
    data: { signingKeyId: id('SigningKey', 'The key.') },
    subject: 'signingKeyId',
  }),
  'SignInExperience.Updated': define({
    description: 'How people sign in changed.',
    data: { changes },
    subject: null,
  }),
  'ServiceSettings.Updated': define({
    description: 'Settings of the service changed.',
    data: { changes },
    subject: null,
  }),
  'RegistrationToken.Created': define({
    description: 'A token was created with which programs register applications.',
    data: {
      registrationTokenId: id('RegistrationToken', 'The token.'),
      expiresAt: instant('When it expires.'),
      maxUses: integer('How many applications it can register.'),
    },
    subject: null,
  }),
  'RegistrationToken.Deleted': define({
    description: 'A token with which programs register applications was deleted.',
    data: { registrationTokenId: id('RegistrationToken', 'The token.') },
    subject: null,
  }),
  'MessageSender.Updated': define({
    description: 'A sender of messages was set, changed or removed.',
    data: { changes },
    subject: null,
  }),
};
