// Service B with jose4j (org.bitbucket.b_c:jose4j), in Java 17 or later:
// `java -cp jose4j.jar:slf4j-api.jar Jose4j.java`.
import static org.jose4j.jwa.AlgorithmConstraints.ConstraintType.PERMIT;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.jose4j.json.JsonUtil;
import org.jose4j.jwk.HttpsJwks;
import org.jose4j.jwt.JwtClaims;
import org.jose4j.jwt.MalformedClaimException;
import org.jose4j.jwt.consumer.InvalidJwtException;
import org.jose4j.jwt.consumer.JwtConsumer;
import org.jose4j.jwt.consumer.JwtConsumerBuilder;
import org.jose4j.jwt.consumer.Validator;
import org.jose4j.keys.resolvers.HttpsJwksVerificationKeyResolver;

class Jose4j {
  static final String ISSUER = System.getenv("ISSUER");
  static final String API = System.getenv("API");
  static final String SCOPE = System.getenv("SCOPE");

  static JwtConsumer createConsumer() {
    // Keys are fetched when their `max-age` is over, and when a token names an unknown key.
    var keys = new HttpsJwks(ISSUER + "/jwks");
    keys.setRefreshReprieveThreshold(5000);
    // While the issuer does not answer, the keys of before stay for 10 minutes.
    keys.setRetainCacheOnErrorDuration(600);
    return new JwtConsumerBuilder()
        .setVerificationKeyResolver(new HttpsJwksVerificationKeyResolver(keys))
        // The values of SIGNING_ALG that you have used.
        .setJwsAlgorithmConstraints(PERMIT, "ES256", "ES384", "EdDSA", "PS256", "RS256")
        .setExpectedType(true, "at+jwt")
        .setExpectedIssuer(ISSUER)
        // Your API's own indicator: a token for another API is not for us.
        .setExpectedAudience(API)
        .setRequireExpirationTime()
        .setRequireSubject()
        .registerValidator(
            (Validator)
                context -> context.getJwtClaims().hasClaim("client_id") ? null : "no client_id")
        .build();
  }

  static boolean isAllowed(JwtClaims claims) throws MalformedClaimException {
    var scope = claims.getStringClaimValue("scope");
    return scope != null && List.of(scope.split(" ")).contains(SCOPE);
  }

  static void answer(HttpExchange exchange, JwtConsumer consumer) throws IOException {
    var header = exchange.getRequestHeaders().getFirst("Authorization");
    try {
      var claims = consumer.processToClaims(header == null ? "" : header.replaceFirst("(?i)^Bearer ", ""));
      if (!isAllowed(claims)) {
        exchange.sendResponseHeaders(403, -1);
        return;
      }
      var body = JsonUtil.toJson(Map.of("user", claims.getSubject())).getBytes(StandardCharsets.UTF_8);
      exchange.sendResponseHeaders(200, body.length);
      try (var out = exchange.getResponseBody()) {
        out.write(body);
      }
    } catch (InvalidJwtException | MalformedClaimException e) {
      exchange.sendResponseHeaders(401, -1);
    }
  }

  public static void main(String[] args) throws IOException {
    var consumer = createConsumer();
    var port = Integer.parseInt(System.getenv("PORT"));
    var server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
    server.createContext("/", exchange -> answer(exchange, consumer));
    server.start();
    System.out.printf("Service B listens on port %d.%n", server.getAddress().getPort());
  }
}
