// Checks access tokens of Signet (RFC 9068 §4) in nginx, for `auth_request`. It runs in njs 0.7.9, which has not all of
// JavaScript: api.conf names it.
const ALGORITHMS = {
  ES256: { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' },
  ES384: { name: 'ECDSA', namedCurve: 'P-384', hash: 'SHA-384' },
  PS256: { name: 'RSA-PSS', saltLength: 32, hash: 'SHA-256' },
  RS256: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' },
};

// What a public key begins with in DER (RFC 5480 §2.1.1, RFC 8017 appendix A.1).
const IDENTIFIERS = {
  'P-256': '301306072a8648ce3d020106082a8648ce3d030107',
  'P-384': '301006072a8648ce3d020106052b81040022',
  RSA: '300d06092a864886f70d0101010500',
};

const bytes = (text) => Buffer.from(text, 'base64url');
const json = (text) => JSON.parse(bytes(text).toString());

function der(tag, parts) {
  const body = Buffer.concat(parts);
  const size = body.length < 128 ? [body.length] : [0x82, body.length >> 8, body.length & 255];
  return Buffer.concat([Buffer.from([tag].concat(size)), body]);
}

// Later versions of njs take a JWK as it is; this one wants a SubjectPublicKeyInfo.
function spki(jwk) {
  const zero = Buffer.from([0]);
  const key =
    jwk.kty === 'RSA'
      ? der(0x30, [der(0x02, [zero, bytes(jwk.n)]), der(0x02, [bytes(jwk.e)])])
      : Buffer.concat([Buffer.from([4]), bytes(jwk.x), bytes(jwk.y)]);
  const identifier = Buffer.from(IDENTIFIERS[jwk.crv || jwk.kty], 'hex');
  return der(0x30, [identifier, der(0x03, [zero, key])]);
}

/** RFC 6750 §3.1. */
function refuse(r, why, status, error) {
  r.warn(`signet: ${why}`);
  r.headersOut['Signet-Challenge'] = `Bearer error="${error || 'invalid_token'}"`;
  r.return(status || 401);
}

/** Answers for good claims, and hands them on. */
function answer(r, claims) {
  if ([].concat(claims.aud).indexOf(r.variables.signet_api) < 0) return refuse(r, 'aud');
  if ((claims.scope || '').split(' ').indexOf(r.variables.signet_scope) < 0) {
    return refuse(r, 'scope', 403, 'insufficient_scope');
  }
  r.headersOut['Signet-User'] = claims.sub;
  r.headersOut['Signet-Client'] = claims.client_id;
  if (claims.act) r.headersOut['Signet-Actors'] = JSON.stringify(claims.act);
  r.return(204);
}

function tokenOf(r) {
  const found = /^Bearer ([\w.-]+)$/i.exec(r.headersIn.Authorization || '');
  return found ? found[1] : '';
}

/** Checks the token by the key set. */
async function check(r) {
  try {
    const parts = tokenOf(r).split('.');
    const header = json(parts[0]);
    const algorithm = ALGORITHMS[header.alg];
    if (header.typ !== 'at+jwt' || !algorithm) return refuse(r, 'typ, alg');
    const reply = await r.subrequest('/_signet_keys');
    const jwk = JSON.parse(reply.responseText).keys.filter(
      (key) => key.kid === header.kid && key.alg === header.alg,
    )[0];
    if (!jwk) return refuse(r, 'kid');
    const key = await crypto.subtle.importKey('spki', spki(jwk), algorithm, false, ['verify']);
    const signed = Buffer.from(`${parts[0]}.${parts[1]}`);
    const isGood = await crypto.subtle.verify(algorithm, key, bytes(parts[2]), signed);
    if (!isGood) return refuse(r, 'signature');
    const claims = json(parts[1]);
    if (claims.iss !== r.variables.signet_issuer) return refuse(r, 'iss');
    if (!(claims.exp > Date.now() / 1000)) return refuse(r, 'exp');
    if (!claims.sub || !claims.client_id) return refuse(r, 'sub, client_id');
    return answer(r, claims);
  } catch (error) {
    return refuse(r, error.message);
  }
}

/** Asks Signet about the token (RFC 7662). */
async function ask(r) {
  try {
    const reply = await r.subrequest('/_signet_introspection', {
      method: 'POST',
      body: `token=${tokenOf(r)}&client_id=${r.variables.signet_client_id}&client_secret=${encodeURIComponent(r.variables.signet_client_secret)}`,
    });
    const claims = JSON.parse(reply.responseText);
    return claims.active ? answer(r, claims) : refuse(r, 'inactive');
  } catch (error) {
    return refuse(r, error.message);
  }
}

export default { ask, check };
