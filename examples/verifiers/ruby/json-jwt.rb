# Service B with json-jwt, which checks the signature alone, and has no EdDSA: `gem install json-jwt webrick`.
require 'json/jwt'
require_relative 'service'

KEYS = KeySet.new("#{ISSUER}/jwks")
# The values of SIGNING_ALG that you have used.
ALGORITHMS = %i[ES256 ES384 PS256 RS256].freeze

# Whether a token with a good signature is an access token (RFC 9068, section 4) for this API.
def meant_for_us?(claims)
  claims.header['typ'] == 'at+jwt' &&
    claims['iss'] == ISSUER &&
    Array(claims['aud']).include?(API) &&
    claims['exp'].is_a?(Numeric) && claims['exp'] > Time.now.to_i &&
    claims['sub'] && claims['client_id']
end

serve do |token|
  kid = JSON::JWT.decode(token, :skip_verification).kid
  claims = JSON::JWT.decode(token, JSON::JWK.new(KEYS.find(kid) || raise('unknown key')), ALGORITHMS)
  raise 'not for this API' unless meant_for_us?(claims)

  claims
end
