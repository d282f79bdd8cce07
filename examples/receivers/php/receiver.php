<?php
// A receiver of webhooks in PHP, without a library. It puts each message into the folder MESSAGES, as ID.json, for
// another program to work on: what PHP remembers ends with the request.
const MAX_BYTES = 1024 * 1024;
const TOLERANCE_SECONDS = 300;

$key = base64_decode(preg_replace('/^whsec_/', '', trim(getenv('WEBHOOK_SECRET'))), true);
// Everybody could sign with an empty key.
if (strlen($key) < 24) {
    http_response_code(500);
    exit('WEBHOOK_SECRET is not a secret of a webhook.');
}
$body = file_get_contents('php://input', length: MAX_BYTES + 1);
if (strlen($body) > MAX_BYTES) {
    http_response_code(413);
    exit;
}
$id = $_SERVER['HTTP_WEBHOOK_ID'] ?? '';
$sent = $_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? '';
$due = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$sent.$body", $key, true));
// One for each live secret: there are two after a rotation.
$given = explode(' ', $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? '');
$isSigned = in_array(true, array_map(fn ($each) => hash_equals($due, $each), $given), true);
if (!$isSigned || abs(time() - (int) $sent) > TOLERANCE_SECONDS) {
    http_response_code(401);
    exit;
}
// Whole at once, and only if it is not there yet.
$folder = getenv('MESSAGES');
$new = tempnam($folder, 'new-');
file_put_contents($new, $body);
$path = "$folder/$id.json";
$isStored = @link($new, $path) || file_exists($path);
unlink($new);
http_response_code($isStored ? 204 : 500);
