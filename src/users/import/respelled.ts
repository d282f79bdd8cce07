const prfs = ['sha1', 'sha256', 'sha512'];

/**
 * A digest of a system that spells what others have too in a way of its own, in the spelling of the others. Any other
 * digest as it is.
 */
export function respelled(digest: string): string {
  const ofDjango = /^(?:argon2|bcrypt\$)(?<own>\$.+)$/.exec(digest)?.groups;
  return ofDjango?.['own'] ?? respelledOfAspNet(digest) ?? digest;
}

/**
 * ASP.NET Core Identity 3: the byte 1, then the function, the iterations and the length of the salt as numbers of four
 * bytes, then salt and hash.
 */
function respelledOfAspNet(digest: string): string | undefined {
  if (!/^AQAAAA[A-Za-z0-9+/]+={0,2}$/.test(digest)) return undefined;
  const bytes = Buffer.from(digest, 'base64');
  if (bytes.length < 13) return undefined;
  const prf = prfs[bytes.readUInt32BE(1)];
  const iterations = bytes.readUInt32BE(5);
  const end = 13 + bytes.readUInt32BE(9);
  const [salt, hash] = [bytes.subarray(13, end), bytes.subarray(end)];
  return (
    prf && `$pbkdf2-${prf}$i=${iterations}$${salt.toString('base64')}$${hash.toString('base64')}`
  );
}
