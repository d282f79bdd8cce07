import { defineMessages } from '../kit/language/messages.ts';

export const permissionMessages = defineMessages({
  en: {
    heading: 'Who can …',
    lead: 'Who would get a scope in a token for an API, and why.',
    api: 'API',
    scope: 'Scope',
    organization: 'Organization',
    chooseTitle: 'Choose an API and a scope',
    chooseText:
      'You then see the users and the applications that have the scope, with the roles that give it. An organization narrows the answer to tokens that are limited to it.',
    chooseApiTitle: 'Choose an API',
    chooseApiText:
      'You then see the scopes that a token for it would have, and the roles that give them.',
    unknownApi: 'This API no longer exists',
    unknownApiText: 'Choose another one.',
    holder: 'Who',
    kind: 'Kind',
    kinds: { User: 'User', Application: 'Application' },
    because: 'By',
    nobodyTitle: 'Nobody',
    nobodyText: 'No user and no application has this scope here. Roles give scopes.',
    everybody: 'Everyone, for their own account',
    inOrganization: 'in',
    notAllowedTitle: 'You do not have access to this',
    notAllowedText:
      'You need the scopes to read users, applications, roles, APIs and organizations.',
    permissions: 'Permissions',
    explain: 'Explain an exchange',
    permissionsAbout: 'The scopes of a token that is issued now, and the roles that give them.',
    description: 'Description',
    noPermissionsTitle: 'No permissions',
    noPermissionsText:
      'A token would have no scope, or none is issued: the user is suspended, the application cannot authenticate, or it is no member of the organization.',
  },
  de: {
    heading: 'Wer darf …',
    lead: 'Alle, die jetzt in einem Token für eine API einen Scope bekämen, und warum.',
    api: 'API',
    scope: 'Scope',
    organization: 'Organisation',
    chooseTitle: 'Wählen Sie eine API und einen Scope',
    chooseText:
      'Dann sehen Sie die Benutzer und Anwendungen, die den Scope haben, mit den Rollen, die ihn geben. Eine Organisation beschränkt die Antwort auf Token, die auf sie beschränkt sind.',
    chooseApiTitle: 'Wählen Sie eine API',
    chooseApiText:
      'Dann sehen Sie die Scopes, die ein Token für sie hätte, und die Rollen, die sie geben.',
    unknownApi: 'Diese API gibt es nicht mehr',
    unknownApiText: 'Wählen Sie eine andere.',
    holder: 'Wer',
    kind: 'Typ',
    kinds: { User: 'Benutzer', Application: 'Anwendung' },
    because: 'Durch',
    nobodyTitle: 'Niemand',
    nobodyText: 'Kein Benutzer und keine Anwendung hat hier diesen Scope. Rollen geben Scopes.',
    everybody: 'Alle, für das eigene Konto',
    inOrganization: 'in',
    notAllowedTitle: 'Sie haben darauf keinen Zugriff',
    notAllowedText:
      'Dazu braucht es die Scopes, um Benutzer, Anwendungen, Rollen, APIs und Organisationen zu lesen.',
    permissions: 'Berechtigungen',
    explain: 'Einen Tausch erklären',
    permissionsAbout: 'Die Scopes eines Tokens, das jetzt ausgestellt wird, und die Rollen dazu.',
    description: 'Beschreibung',
    noPermissionsTitle: 'Keine Berechtigungen',
    noPermissionsText:
      'Ein Token hätte keinen Scope, oder es wird keines ausgestellt: der Benutzer ist gesperrt, die Anwendung kann sich nicht authentifizieren, oder sie ist kein Mitglied der Organisation.',
  },
});
