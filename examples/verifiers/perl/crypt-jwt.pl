# Service B with Crypt::JWT: `cpanm Crypt::JWT HTTP::Daemon`.
use strict;
use warnings;
use Crypt::JWT qw(decode_jwt);
use HTTP::Daemon;
use HTTP::Tiny;
use JSON::PP qw(decode_json encode_json);

my ($issuer, $api, $scope) = @ENV{qw(ISSUER API SCOPE)};

# The keys by their `kid`. They are fetched again for an unknown `kid`, at most every 5 seconds, and every 10 minutes, so
# that a deleted key is forgotten.
my %keys;
my $fetched_at = 0;

sub find_key {
    my ($kid) = @_;
    my $age = time - $fetched_at;
    fetch_keys() if $age > 600 || (!$keys{$kid} && $age > 5);
    return $keys{$kid} // die "unknown key\n";
}

sub fetch_keys {
    $fetched_at = time;
    my $response = HTTP::Tiny->new(timeout => 5)->get("$issuer/jwks");
    if ($response->{success}) {
        %keys = map { $_->{kid} => $_ } @{ decode_json($response->{content})->{keys} };
    }
    else {
        warn "The keys cannot be fetched; those of before stay: $response->{status} $response->{reason}\n";
    }
}

# Checks an access token (RFC 9068, section 4) and returns its claims. Dies unless it is good.
sub check {
    my ($token) = @_;
    my ($unverified) = decode_jwt(token => $token, ignore_signature => 1, ignore_claims => 1, decode_header => 1);
    my ($header, $claims) = decode_jwt(
        token         => $token,
        key           => find_key($unverified->{kid} // ''),
        decode_header => 1,
        # The values of SIGNING_ALG that you have used.
        accepted_alg => [qw(ES256 ES384 EdDSA PS256 RS256)],
        # 1 says that it has to be there. Without it an absent `exp` passes.
        verify_exp => 1,
        verify_iss => sub { defined $_[0] && $_[0] eq $issuer },
        # A string here would refuse a list.
        verify_aud => sub {
            my ($audience) = @_;
            grep { $_ eq $api } ref $audience ? @$audience : $audience // ();
        },
        leeway => 10,
    );
    die "not an access token\n"
        if ($header->{typ} // '') ne 'at+jwt' || !$claims->{sub} || !$claims->{client_id};
    return $claims;
}

sub answer {
    my ($request) = @_;
    my ($token) = ($request->header('Authorization') // '') =~ /^Bearer (\S+)$/i;
    my $claims = eval { check($token // '') } or return HTTP::Response->new(401);
    return HTTP::Response->new(403) unless grep { $_ eq $scope } split / /, $claims->{scope} // '';
    return HTTP::Response->new(200, undef, undef, encode_json({ user => $claims->{sub} }));
}

my $server = HTTP::Daemon->new(LocalAddr => 'localhost', LocalPort => $ENV{PORT}) or die "$@\n";
$| = 1;
printf "Service B listens on port %d.\n", $server->sockport;
while (my $connection = $server->accept) {
    my $request = $connection->get_request or next;
    my $response = answer($request);
    # It serves one connection at a time: nobody keeps it.
    $response->header(Connection => 'close');
    $connection->send_response($response);
}
