# A receiver of webhooks with Rack, which Rails and Sinatra are built on: `puma receiver.ru`.
require 'base64'
require 'json'
require 'openssl'
require 'set'

MAX_BYTES = 1024 * 1024
TOLERANCE_SECONDS = 300
KEY = Base64.strict_decode64(ENV.fetch('WEBHOOK_SECRET').strip.delete_prefix('whsec_'))
# Everybody could sign with an empty key.
abort 'WEBHOOK_SECRET is not a secret of a webhook.' if KEY.bytesize < 24
# In production: a table, kept for as long as retries can come.
SEEN = Set.new
$stdout.sync = true

# Whether Signet signed the message, at most five minutes ago.
def genuine?(env, body)
  id, sent = env.values_at('HTTP_WEBHOOK_ID', 'HTTP_WEBHOOK_TIMESTAMP')
  return false if (Time.now.to_i - sent.to_i).abs > TOLERANCE_SECONDS

  due = "v1,#{Base64.strict_encode64(OpenSSL::HMAC.digest('SHA256', KEY, "#{id}.#{sent}.".b + body))}"
  # One for each live secret: there are two after a rotation.
  env['HTTP_WEBHOOK_SIGNATURE'].to_s.split(' ').any? { |each| OpenSSL.secure_compare(due, each) }
end

run(lambda do |env|
  body = env['rack.input'].read(MAX_BYTES + 1).to_s.b
  next [413, {}, []] if body.bytesize > MAX_BYTES
  next [401, {}, []] unless genuine?(env, body)

  event = JSON.parse(body)
  puts "#{event['type']} #{event['data']['name']}" if SEEN.add?(event['id'])
  [204, {}, []]
end)
