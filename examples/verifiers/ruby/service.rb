# What the files beside it share: the keys of the issuer, and an HTTP server.
require 'json'
require 'net/http'
require 'webrick'

ISSUER = ENV.fetch('ISSUER')
# This API's own indicator: a token for another API is not for us.
API = ENV.fetch('API')
SCOPE = ENV.fetch('SCOPE')

# The keys of an issuer by their `kid`. They are fetched again for an unknown `kid`, at most every 5 seconds, and every
# 10 minutes, so that a deleted key is forgotten.
class KeySet
  def initialize(url)
    @url = URI(url)
    @keys = {}
    @fetched_at = -Float::INFINITY
    @lock = Mutex.new
  end

  def all
    @lock.synchronize do
      fetch if age > 600
      @keys.values
    end
  end

  # Returns a key, or nil.
  def find(kid)
    @lock.synchronize do
      fetch if age > 600 || (!@keys.key?(kid) && age > 5)
      @keys[kid]
    end
  end

  private

  def age = now - @fetched_at

  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

  def fetch
    @fetched_at = now
    body = Net::HTTP.start(@url.host, @url.port, use_ssl: @url.scheme == 'https', open_timeout: 5, read_timeout: 5) do |http|
      http.get(@url.request_uri).body
    end
    @keys = JSON.parse(body, symbolize_names: true).fetch(:keys).to_h { |key| [key.fetch(:kid), key] }
  rescue StandardError => e
    warn "The keys cannot be fetched; those of before stay: #{e.message}"
  end
end

# Answers requests whose token the block takes: it returns the claims, or raises whatever it likes.
def serve
  server = WEBrick::HTTPServer.new(BindAddress: 'localhost', Port: ENV.fetch('PORT', '4000').to_i, AccessLog: [],
                                   Logger: WEBrick::Log.new($stderr, WEBrick::Log::WARN))
  server.mount_proc('/') do |request, response|
    begin
      claims = yield request['Authorization'].to_s.delete_prefix('Bearer ')
    rescue StandardError => e
      server.logger.info("A token is refused: #{e.message}")
      next response.status = 401
    end
    next response.status = 403 unless claims['scope'].to_s.split.include?(SCOPE)

    response.body = JSON.generate(user: claims['sub'])
  end
  puts "Service B listens on port #{server.listeners.first.addr[1]}."
  $stdout.flush
  server.start
end
