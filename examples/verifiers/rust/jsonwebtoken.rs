// Service B with jsonwebtoken: `cargo run`.
use std::collections::HashMap;
use std::env;
use std::error::Error;
use std::time::{Duration, Instant};

use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{decode, decode_header, Algorithm, DecodingKey, Validation};
use serde::Deserialize;
use serde_json::{json, Value};
use tiny_http::{Request, Response, Server};

// The values of SIGNING_ALG that you have used.
const ALGORITHMS: [Algorithm; 5] = [
    Algorithm::ES256,
    Algorithm::ES384,
    Algorithm::EdDSA,
    Algorithm::PS256,
    Algorithm::RS256,
];

#[derive(Deserialize)]
struct Claims {
    sub: String,
    // Read so that it has to be there.
    #[serde(rename = "client_id")]
    _client_id: String,
    #[serde(default)]
    scope: String,
}

/// The keys by their `kid`. They are fetched again for an unknown `kid`, at most every 5 seconds, and every 10 minutes,
/// so that a deleted key is forgotten.
struct KeySet {
    url: String,
    keys: HashMap<String, Jwk>,
    fetched_at: Option<Instant>,
}

impl KeySet {
    fn find(&mut self, kid: &str) -> Result<&Jwk, Box<dyn Error>> {
        let age = self.fetched_at.map_or(Duration::MAX, |at| at.elapsed());
        let is_known = self.keys.contains_key(kid);
        if age > Duration::from_secs(600) || (!is_known && age > Duration::from_secs(5)) {
            self.fetched_at = Some(Instant::now());
            match self.fetch() {
                Ok(keys) => self.keys = keys,
                Err(error) => eprintln!("The keys cannot be fetched; those of before stay: {error}"),
            }
        }
        self.keys.get(kid).ok_or_else(|| "unknown key".into())
    }

    fn fetch(&self) -> Result<HashMap<String, Jwk>, Box<dyn Error>> {
        let answer = ureq::get(&self.url).timeout(Duration::from_secs(5)).call()?;
        let set: Value = answer.into_json()?;
        let keys = set["keys"].as_array().ok_or("not a key set")?;
        // One by one: a whole `JwkSet` is not read if one of its keys is of a kind that jsonwebtoken does not know.
        Ok(keys
            .iter()
            .filter_map(|key| serde_json::from_value::<Jwk>(key.clone()).ok())
            .filter_map(|key| Some((key.common.key_id.clone()?, key)))
            .collect())
    }
}

/// Checks an access token (RFC 9068, section 4) and returns its claims.
fn check(token: &str, keys: &mut KeySet, issuer: &str, api: &str) -> Result<Claims, Box<dyn Error>> {
    let header = decode_header(token)?;
    if header.typ.as_deref() != Some("at+jwt") || !ALGORITHMS.contains(&header.alg) {
        return Err("not an access token".into());
    }
    let key = DecodingKey::from_jwk(keys.find(header.kid.as_deref().unwrap_or(""))?)?;
    // Algorithms of two families in one `Validation` are refused.
    let mut validation = Validation::new(header.alg);
    validation.set_issuer(&[issuer]);
    validation.set_audience(&[api]);
    // Without it a token may have no `aud` and no `iss`, whatever was set above.
    validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
    // Without it an expired token is good for 60 seconds.
    validation.leeway = 10;
    Ok(decode::<Claims>(token, &key, &validation)?.claims)
}

fn token_of(request: &Request) -> &str {
    request
        .headers()
        .iter()
        .find(|header| header.field.equiv("Authorization"))
        .and_then(|header| header.value.as_str().strip_prefix("Bearer "))
        .unwrap_or("")
}

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let issuer = env::var("ISSUER")?;
    // Your API's own indicator: a token for another API is not for us.
    let api = env::var("API")?;
    let scope = env::var("SCOPE")?;
    let mut keys = KeySet { url: format!("{issuer}/jwks"), keys: HashMap::new(), fetched_at: None };
    let server = Server::http(format!("localhost:{}", env::var("PORT")?))?;
    if let Some(address) = server.server_addr().to_ip() {
        println!("Service B listens on port {}.", address.port());
    }
    for request in server.incoming_requests() {
        let answered = match check(token_of(&request), &mut keys, &issuer, &api) {
            Ok(claims) if claims.scope.split(' ').any(|held| held == scope) => {
                request.respond(Response::from_string(json!({ "user": claims.sub }).to_string()))
            }
            Ok(_) => request.respond(Response::empty(403)),
            Err(_) => request.respond(Response::empty(401)),
        };
        if let Err(error) = answered {
            eprintln!("The caller is gone: {error}");
        }
    }
    Ok(())
}
