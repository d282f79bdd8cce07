// Service B with golang-jwt, and with keyfunc, which brings it the keys:
// `go get github.com/golang-jwt/jwt/v5 github.com/MicahParks/keyfunc/v3`.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/MicahParks/keyfunc/v3"
	"github.com/golang-jwt/jwt/v5"
	"golang.org/x/time/rate"
)

var issuer, api, scope = os.Getenv("ISSUER"), os.Getenv("API"), os.Getenv("SCOPE")

var parser = jwt.NewParser(
	// The values of SIGNING_ALG that you have used.
	jwt.WithValidMethods([]string{"ES256", "ES384", "EdDSA", "PS256", "RS256"}),
	jwt.WithIssuer(issuer),
	jwt.WithAudience(api),
	jwt.WithExpirationRequired(),
)

type claims struct {
	jwt.RegisteredClaims
	ClientID string `json:"client_id"`
	Scope    string `json:"scope"`
}

// openKeys fetches the keys every 10 minutes, and when a token names an unknown key: by default once in 5 minutes, in
// which a stranger's token could keep a new key from being found.
func openKeys() (keyfunc.Keyfunc, error) {
	return keyfunc.NewDefaultOverrideCtx(context.Background(), []string{issuer + "/jwks"}, keyfunc.Override{
		RefreshInterval:   10 * time.Minute,
		RefreshUnknownKID: rate.NewLimiter(rate.Every(5*time.Second), 1),
		// How long a request with an unknown key may take, and with it the fetch. By default it is a minute.
		RateLimitWaitMax: 2 * time.Second,
	})
}

// check returns the claims of a token that is meant for this API.
func check(keys keyfunc.Keyfunc, token string) (claims, error) {
	var found claims
	verified, err := parser.ParseWithClaims(token, &found, keys.Keyfunc)
	if err != nil {
		return found, err
	}
	if verified.Header["typ"] != "at+jwt" || found.Subject == "" || found.ClientID == "" {
		return found, errors.New("not an access token")
	}
	return found, nil
}

func main() {
	keys, err := openKeys()
	if err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", "localhost:"+os.Getenv("PORT"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("Service B listens on port %d.\n", listener.Addr().(*net.TCPAddr).Port)
	log.Fatal(http.Serve(listener, http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		token, _ := strings.CutPrefix(request.Header.Get("Authorization"), "Bearer ")
		found, err := check(keys, token)
		if err != nil {
			response.WriteHeader(http.StatusUnauthorized)
		} else if !slices.Contains(strings.Split(found.Scope, " "), scope) {
			response.WriteHeader(http.StatusForbidden)
		} else {
			json.NewEncoder(response).Encode(map[string]string{"user": found.Subject})
		}
	})))
}
