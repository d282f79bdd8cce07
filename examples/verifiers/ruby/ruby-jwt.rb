# Service B with ruby-jwt: `gem install jwt webrick`. EdDSA needs a gem more: jwt-eddsa.
require 'jwt'
require_relative 'service'

KEYS = KeySet.new("#{ISSUER}/jwks")
OPTIONS = {
  # The values of SIGNING_ALG that you have used.
  algorithms: %w[ES256 ES384 PS256 RS256],
  # It asks for a key that it did not find before, or for all.
  jwks: ->(options) { { keys: options[:kid] ? [KEYS.find(options[:kid])].compact : KEYS.all } },
  # Without `verify_iss` and `verify_aud` the others do nothing.
  iss: ISSUER, verify_iss: true,
  aud: API, verify_aud: true,
  required_claims: %w[exp sub client_id]
}.freeze

serve do |token|
  claims, header = JWT.decode(token, nil, true, OPTIONS)
  raise 'not an access token' unless header['typ'] == 'at+jwt'

  claims
end
