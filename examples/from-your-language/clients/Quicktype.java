// Types by quicktype, requests by java.net.http, JSON by Jackson: `apt-get install default-jdk libjackson2-databind-java`.
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.deser.std.StdScalarDeserializer;
import com.fasterxml.jackson.databind.module.SimpleModule;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.OffsetDateTime;
import java.util.Collections;
import java.util.Map;
import signet.Problem;
import signet.ProblemCode;
import signet.User;

public class Quicktype {
    static final String SIGNET = System.getenv().getOrDefault("SIGNET", "http://localhost:3000");
    static final String TOKEN = System.getenv("TOKEN");
    static final HttpClient HTTP = HttpClient.newHttpClient();
    // A newer Signet may answer with fields that these types do not have.
    static final ObjectMapper JSON = new ObjectMapper()
        .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
        .registerModule(new SimpleModule().addDeserializer(OffsetDateTime.class, new Times()));

    /** What jackson-datatype-jsr310 does for all of `java.time`. */
    static class Times extends StdScalarDeserializer<OffsetDateTime> {
        private static final long serialVersionUID = 1;

        Times() {
            super(OffsetDateTime.class);
        }

        @Override
        public OffsetDateTime deserialize(JsonParser parser, DeserializationContext context) throws IOException {
            return OffsetDateTime.parse(parser.getText());
        }
    }

    /** A refusal of Signet. */
    static class Refused extends Exception {
        private static final long serialVersionUID = 1;
        final transient Problem problem;

        Refused(Problem problem) {
            super(problem.getDetail());
            this.problem = problem;
        }
    }

    static JsonNode send(String method, String path, Map<String, ?> body, String type)
            throws IOException, InterruptedException, Refused {
        var request = HttpRequest.newBuilder(URI.create(SIGNET + "/api" + path))
            .header("Authorization", "Bearer " + TOKEN)
            .header("Content-Type", type)
            .method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(JSON.writeValueAsString(body)))
            .build();
        var answer = HTTP.send(request, BodyHandlers.ofString());
        if (answer.statusCode() >= 400) throw new Refused(JSON.readValue(answer.body(), Problem.class));
        return JSON.readTree(answer.body());
    }

    static User user(JsonNode answer) throws IOException {
        return JSON.treeToValue(answer.get("user"), User.class);
    }

    public static void main(String[] parameters) throws IOException, InterruptedException, Refused {
        var username = "quicktype";
        var email = username + "@example.com";
        var json = "application/json";
        var created = user(send("POST", "/users",
            Map.of("username", username, "name", "Ada Lovelace", "primaryEmail", email), json));
        System.out.println("created " + created.getUsername());

        var listed = send("GET", "/users?first=10&username=" + username, null, json).get("users");
        System.out.println("listed " + listed.size());

        // Null clears a field, and an absent one stays as it is. `Map.of` takes no null.
        var path = "/users/" + created.getID();
        var patched = user(send("PATCH", path, Collections.singletonMap("name", null), "application/merge-patch+json"));
        System.out.println("patched " + patched.getName() + " " + patched.getPrimaryEmail());

        var renamed = user(send("PATCH", path, Map.of("name", "Ada King"), json));
        System.out.println("patched " + renamed.getName() + " " + renamed.getPrimaryEmail());

        try {
            send("POST", "/users", Map.of("username", username), json);
        } catch (Refused refused) {
            var problem = refused.problem;
            if (problem.getCode() == ProblemCode.CONFLICT)
                System.out.println("refused " + problem.getCode() + " " + problem.getPath());
        }
    }
}
