# A receiver of webhooks with PSGI, which Mojolicious, Dancer and Catalyst speak: `plackup receiver.psgi`.
use strict;
use warnings;
use Digest::SHA qw(hmac_sha256);
use JSON::PP qw(decode_json);
use MIME::Base64 qw(decode_base64 encode_base64);

use constant { MAX_BYTES => 1024 * 1024, TOLERANCE_SECONDS => 300 };

my ($encoded) = ($ENV{WEBHOOK_SECRET} // '') =~ /^\s*(?:whsec_)?(\S*)/;
my $key = decode_base64($encoded);
# Everybody could sign with an empty key.
die "WEBHOOK_SECRET is not a secret of a webhook.\n" if length $key < 24;
# In production: a table, kept for as long as retries can come.
my %seen;
binmode STDOUT, ':encoding(UTF-8)';
$| = 1;

# Whether Signet signed the message, at most five minutes ago.
sub is_genuine {
    my ($env, $body) = @_;
    my ($id, $sent, $given) = map { $env->{"HTTP_WEBHOOK_$_"} // '' } qw(ID TIMESTAMP SIGNATURE);
    return 0 if $sent !~ /^[0-9]{1,12}$/ || abs(time - $sent) > TOLERANCE_SECONDS;
    my $due = 'v1,' . encode_base64(hmac_sha256("$id.$sent.$body", $key), '');
    # One for each live secret: there are two after a rotation. The digests are compared, so the time tells nothing.
    return scalar grep { hmac_sha256($_, $key) eq hmac_sha256($due, $key) } split / /, $given;
}

sub {
    my ($env) = @_;
    my $length = $env->{CONTENT_LENGTH} || 0;
    return [413, [], []] if $length > MAX_BYTES;
    my $body = '';
    while (length $body < $length) {
        $env->{'psgi.input'}->read($body, $length - length $body, length $body) or last;
    }
    return [401, [], []] if !is_genuine($env, $body);
    my $event = decode_json($body);
    print "$event->{type} $event->{data}{name}\n" if !$seen{$event->{id}}++;
    return [204, [], []];
};
