<?php
// Service B with firebase/php-jwt, which has no PS256: `composer require firebase/php-jwt guzzlehttp/guzzle symfony/cache`,
// and APCu, in which the keys outlive a request.
use Firebase\JWT\CachedKeySet;
use Firebase\JWT\JWT;
use GuzzleHttp\Client;
use GuzzleHttp\Psr7\HttpFactory;
use Symfony\Component\Cache\Adapter\ApcuAdapter;

require __DIR__ . '/vendor/autoload.php';

$issuer = getenv('ISSUER');
// Keys are fetched after 10 minutes, and for a token that names an unknown key, but at most 10 times a minute.
$keys = new CachedKeySet("$issuer/jwks", new Client(['timeout' => 5]), new HttpFactory(), new ApcuAdapter(), 600, true);
// A token is new when it comes: a clock that is some seconds behind would call it one of the future.
JWT::$leeway = 10;

/** Checks an access token (RFC 9068, section 4) and returns its claims. */
function check(string $token, CachedKeySet $keys, string $issuer, string $api): stdClass
{
    $header = new stdClass();
    // The signature, with the algorithm that the key says, and `exp` where there is one: the rest is for you.
    $claims = JWT::decode($token, $keys, $header);
    $isForUs = ($header->typ ?? '') === 'at+jwt'
        && ($claims->iss ?? '') === $issuer
        && in_array($api, (array) ($claims->aud ?? []), true)
        && isset($claims->exp, $claims->sub, $claims->client_id);
    return $isForUs ? $claims : throw new UnexpectedValueException('not an access token for this API');
}

$token = preg_match('/^Bearer (\S+)$/i', $_SERVER['HTTP_AUTHORIZATION'] ?? '', $found) ? $found[1] : '';
try {
    $claims = check($token, $keys, $issuer, getenv('API'));
} catch (Throwable $error) {
    // Besides those of php-jwt: OutOfBoundsException for an unknown key, and TypeError.
    error_log("A token is refused: {$error->getMessage()}");
    http_response_code(401);
    return;
}
if (!in_array(getenv('SCOPE'), explode(' ', $claims->scope ?? ''), true)) {
    http_response_code(403);
    return;
}
echo json_encode(['user' => $claims->sub]);
