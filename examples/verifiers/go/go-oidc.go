// Service B with go-oidc: `go get github.com/coreos/go-oidc/v3/oidc`.
package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/coreos/go-oidc/v3/oidc"
)

var issuer, api, scope = os.Getenv("ISSUER"), os.Getenv("API"), os.Getenv("SCOPE")

// Keys are fetched once, and again when a token names an unknown key.
var verifier = oidc.NewVerifier(issuer, oidc.NewRemoteKeySet(context.Background(), issuer+"/jwks"), &oidc.Config{
	// Your API's own indicator, although go-oidc calls it a client.
	ClientID: api,
	// The values of SIGNING_ALG that you have used. Without it, RS256 alone.
	SupportedSigningAlgs: []string{"ES256", "ES384", "EdDSA", "PS256", "RS256"},
})

type claims struct {
	Subject  string `json:"sub"`
	ClientID string `json:"client_id"`
	Scope    string `json:"scope"`
}

// check returns the claims of a token that is meant for this API.
func check(ctx context.Context, token string) (claims, error) {
	var found claims
	verified, err := verifier.Verify(ctx, token)
	if err != nil {
		return found, err
	}
	if err := verified.Claims(&found); err != nil {
		return found, err
	}
	if typeOf(token) != "at+jwt" || found.Subject == "" || found.ClientID == "" {
		return found, errors.New("not an access token")
	}
	return found, nil
}

// typeOf reads the header of a verified token, which go-oidc does not show.
func typeOf(token string) string {
	var header struct {
		Type string `json:"typ"`
	}
	encoded, _, _ := strings.Cut(token, ".")
	decoded, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil || json.Unmarshal(decoded, &header) != nil {
		return ""
	}
	return header.Type
}

func serve(response http.ResponseWriter, request *http.Request) {
	token, _ := strings.CutPrefix(request.Header.Get("Authorization"), "Bearer ")
	found, err := check(request.Context(), token)
	if err != nil {
		response.WriteHeader(http.StatusUnauthorized)
	} else if !slices.Contains(strings.Split(found.Scope, " "), scope) {
		response.WriteHeader(http.StatusForbidden)
	} else {
		json.NewEncoder(response).Encode(map[string]string{"user": found.Subject})
	}
}

func main() {
	listener, err := net.Listen("tcp", "localhost:"+os.Getenv("PORT"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("Service B listens on port %d.\n", listener.Addr().(*net.TCPAddr).Port)
	log.Fatal(http.Serve(listener, http.HandlerFunc(serve)))
}
