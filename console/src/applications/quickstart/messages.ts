import { defineMessages } from '../../kit/language/messages.ts';

export const quickstartMessages = defineMessages({
  en: {
    title: 'Quickstart',
    people:
      'How people sign in, by authorization code with PKCE. Everything is filled in but the secret.',
    machine: 'How the application gets a token for an API. Everything is filled in but the secret.',
    asksForMore:
      'The security settings of this application ask for more than these examples have: keys, bound tokens or pushed requests.',
    kinds: 'Kind of application',
    names: {
      settings: 'Settings',
      express: 'Express',
      fastify: 'Fastify',
      next: 'Next.js',
      spa: 'Single-page app',
      curl: 'curl',
      node: 'Node.js',
    },
    abouts: {
      settings: 'For any OpenID Connect library. It finds the rest at the issuer.',
      express: 'A server with Express and openid-client.',
      fastify: 'A server with Fastify and openid-client.',
      next: 'Next.js with Auth.js 5. Three files.',
      spa: 'In the browser, with openid-client. No secret.',
      curl: 'To try it by hand, in a shell. Set CLIENT_SECRET if the application has a secret.',
      node: 'In Node.js, with openid-client.',
    },
    labels: {
      settings: 'Settings for a library',
      express: 'Example for Express',
      fastify: 'Example for Fastify',
      next: 'Example for Next.js',
      spa: 'Example for a single-page app',
      curl: 'Commands for a sign-in',
      node: 'Example for Node.js',
    },
    machineCommand: 'Command for a token',
  },
  de: {
    title: 'Schnellstart',
    people:
      'So melden sich Personen an, mit Authorization Code und PKCE. Alles ist ausgefüllt, nur das Geheimnis fehlt.',
    machine:
      'So bekommt die Anwendung ein Token für eine API. Alles ist ausgefüllt, nur das Geheimnis fehlt.',
    asksForMore:
      'Die Sicherheitseinstellungen dieser Anwendung verlangen mehr, als diese Beispiele haben: Schlüssel, gebundene Tokens oder vorab gesendete Anfragen.',
    kinds: 'Art der Anwendung',
    names: {
      settings: 'Einstellungen',
      express: 'Express',
      fastify: 'Fastify',
      next: 'Next.js',
      spa: 'Single-Page-App',
      curl: 'curl',
      node: 'Node.js',
    },
    abouts: {
      settings:
        'Für jede Bibliothek für OpenID Connect. Den Rest findet sie unter der Adresse des Ausstellers.',
      express: 'Ein Server mit Express und openid-client.',
      fastify: 'Ein Server mit Fastify und openid-client.',
      next: 'Next.js mit Auth.js 5. Drei Dateien.',
      spa: 'Im Browser, mit openid-client. Ohne Geheimnis.',
      curl: 'Zum Ausprobieren von Hand, in einer Shell. Setzen Sie CLIENT_SECRET, falls die Anwendung ein Geheimnis hat.',
      node: 'In Node.js, mit openid-client.',
    },
    labels: {
      settings: 'Einstellungen für eine Bibliothek',
      express: 'Beispiel für Express',
      fastify: 'Beispiel für Fastify',
      next: 'Beispiel für Next.js',
      spa: 'Beispiel für eine Single-Page-App',
      curl: 'Befehle für eine Anmeldung',
      node: 'Beispiel für Node.js',
    },
    machineCommand: 'Befehl für ein Token',
  },
});
