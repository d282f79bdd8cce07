import { defineMessages } from '../../kit/language/messages.ts';

export const securityMessages = defineMessages({
  en: {
    tab: 'Keys and security',
    title: 'Keys and security',
    about:
      'How the application proves who it is, and whether its tokens are worth anything to a thief.',
    profile: 'Security profile',
    profiles: { NONE: 'None', FAPI_2_0: 'FAPI 2.0' },
    profileTexts: {
      NONE: 'The settings below decide.',
      FAPI_2_0:
        'For banks and the like: keys and no secrets, bound tokens, pushed requests, strong signatures alone.',
    },
    profileSets:
      'The profile turns secrets off, binds every token to a key (DPoP), and requires pushed authorization requests. It turns off headless sign-in and sign-in on devices too, and signs id tokens by ES256 unless another fits.',
    needsKeys: 'The profile needs keys.',
    keys: 'Public keys',
    keysHint: 'With keys, it authenticates by signed assertions (private_key_jwt).',
    sources: { NONE: 'None', JWKS: 'Given here', JWKS_URI: 'At an address' },
    sourceTexts: {
      NONE: 'It authenticates by a secret.',
      JWKS: 'You enter the key set, and change it when the keys change.',
      JWKS_URI: 'Signet reads the key set there, so that the application can change its keys.',
    },
    jwks: 'Key set (JWKS)',
    jwksHint: 'Public keys alone, at most 10. Each has its own kid.',
    notASet: 'This is not a JSON object.',
    jwksUri: 'Address of the key set',
    jwksUriHint: 'An https URL with a public address.',
    allowSecrets: 'Secrets count beside keys',
    allowSecretsHint: 'If off, only its keys count. It needs keys then.',
    requireDpop: 'Require bound tokens (DPoP)',
    requireDpopHint:
      'It gets only tokens that are bound to a key. Whoever steals one cannot use it.',
    mayRebind: 'May bind exchanged tokens to its own key',
    mayRebindHint:
      'In an exchange, it may swap a token that is bound to somebody else’s key for one bound to its own. The token is never unbound.',
    requirePar: 'Require pushed authorization requests (PAR)',
    requireParHint: 'Its server sends each request first, so that no browser can change it.',
    requirePkce: 'Require PKCE',
    requirePkceHint:
      'Off only for a client that cannot send it. A stolen code is then protected by the client secret alone, and nothing here stops a code of another person’s sign-in from being slipped into a browser.',
    reuse: 'Accept a used refresh token again for',
    reuseHint:
      'For a second tab, or an answer that was lost, until a newer one is used. After that, a used token ends the session of the application. 0 never accepts it again.',
    reuseBounds: 'From 0 seconds to 5 minutes.',
  },
  de: {
    tab: 'Schlüssel und Sicherheit',
    title: 'Schlüssel und Sicherheit',
    about:
      'Wie die Anwendung beweist, wer sie ist, und ob ihre Tokens jemandem nützen, der sie stiehlt.',
    profile: 'Sicherheitsprofil',
    profiles: { NONE: 'Keines', FAPI_2_0: 'FAPI 2.0' },
    profileTexts: {
      NONE: 'Es gelten die Einstellungen unten.',
      FAPI_2_0:
        'Für Banken und Ähnliches: Schlüssel statt Geheimnissen, gebundene Tokens, vorab gesendete Anfragen, nur starke Signaturen.',
    },
    profileSets:
      'Das Profil schaltet Geheimnisse aus, bindet jedes Token an einen Schlüssel (DPoP) und verlangt vorab gesendete Autorisierungsanfragen. Es schaltet auch die Anmeldung ohne Browser und an Geräten aus und signiert ID-Tokens mit ES256, wenn nichts anderes passt.',
    needsKeys: 'Das Profil braucht Schlüssel.',
    keys: 'Öffentliche Schlüssel',
    keysHint:
      'Mit Schlüsseln authentifiziert sie sich durch signierte Assertions (private_key_jwt).',
    sources: { NONE: 'Keine', JWKS: 'Hier eingegeben', JWKS_URI: 'Unter einer Adresse' },
    sourceTexts: {
      NONE: 'Sie authentifiziert sich mit einem Geheimnis.',
      JWKS: 'Sie geben den Schlüsselsatz ein und ändern ihn, wenn sich die Schlüssel ändern.',
      JWKS_URI:
        'Signet liest den Schlüsselsatz dort; die Anwendung kann ihre Schlüssel selbst wechseln.',
    },
    jwks: 'Schlüsselsatz (JWKS)',
    jwksHint: 'Nur öffentliche Schlüssel, höchstens 10. Jeder hat eine eigene kid.',
    notASet: 'Das ist kein JSON-Objekt.',
    jwksUri: 'Adresse des Schlüsselsatzes',
    jwksUriHint: 'Eine https-Adresse, die öffentlich erreichbar ist.',
    allowSecrets: 'Geheimnisse gelten neben Schlüsseln',
    allowSecretsHint: 'Ist das aus, gelten nur ihre Schlüssel. Dann braucht sie welche.',
    requireDpop: 'Gebundene Tokens verlangen (DPoP)',
    requireDpopHint:
      'Sie bekommt nur Tokens, die an einen Schlüssel gebunden sind. Wer eines stiehlt, kann es nicht verwenden.',
    mayRebind: 'Darf getauschte Tokens an den eigenen Schlüssel binden',
    mayRebindHint:
      'Bei einem Tausch darf sie ein Token, das an einen fremden Schlüssel gebunden ist, gegen eines mit ihrem eigenen tauschen. Ungebunden wird das Token nie.',
    requirePar: 'Vorab gesendete Autorisierungsanfragen verlangen (PAR)',
    requireParHint: 'Ihr Server sendet jede Anfrage vorab, sodass kein Browser sie verändern kann.',
    requirePkce: 'PKCE verlangen',
    requirePkceHint:
      'Nur für einen Client auszuschalten, der es nicht senden kann. Ein gestohlener Code ist dann allein durch das Client-Secret geschützt, und nichts hindert hier daran, einem Browser den Code aus der Anmeldung einer anderen Person unterzuschieben.',
    reuse: 'Ein benutztes Refresh-Token wieder annehmen für',
    reuseHint:
      'Für einen zweiten Tab oder eine verlorene Antwort, bis ein neueres benutzt wird. Danach beendet ein benutztes Token die Sitzung der Anwendung. 0 nimmt es nie wieder an.',
    reuseBounds: 'Von 0 Sekunden bis 5 Minuten.',
  },
});
