#!/usr/bin/perl
# Takes a message from the program `webhook` as hooks.json says, with Perl's core modules. It puts each into the folder
# MESSAGES, as ID.json, for another program to work on. It fails where Signet has not signed the message.
use strict;
use warnings;
use Digest::SHA qw(hmac_sha256);
use File::Temp ();
use MIME::Base64 qw(decode_base64 encode_base64);

use constant TOLERANCE_SECONDS => 300;

my ($encoded) = ($ENV{WEBHOOK_SECRET} // '') =~ /^\s*(?:whsec_)?(\S*)/;
my $key = decode_base64($encoded);
# Everybody could sign with an empty key.
die "WEBHOOK_SECRET is not a secret of a webhook.\n" if length $key < 24;
my ($id, $sent, $given) = map { $_ // '' } @ENV{qw(ID SENT SIGNATURES)};

open my $file, '<:raw', $ENV{BODY_FILE} or die "There is no body: $!\n";
my $body = do { local $/; <$file> } // '';
my $due = 'v1,' . encode_base64(hmac_sha256("$id.$sent.$body", $key), '');
# One for each live secret: there are two after a rotation. The digests are compared, so the time tells nothing.
my $is_signed = grep { hmac_sha256($_, $key) eq hmac_sha256($due, $key) } split / /, $given;
die "Signet has not signed it.\n" if !$is_signed;
die "It is old.\n" if $sent !~ /^[0-9]{1,12}$/ || abs(time - $sent) > TOLERANCE_SECONDS;

# Whole at once, and only if it is not there yet.
my $new = File::Temp->new(DIR => $ENV{MESSAGES});
binmode $new;
print {$new} $body;
close $new or die "It cannot be stored: $!\n";
my $path = "$ENV{MESSAGES}/$id.json";
link $new->filename, $path or -e $path or die "It cannot be stored: $!\n";
