// A receiver of webhooks in Go. It needs only the standard library.
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	maxBytes  = 1 << 20
	tolerance = 5 * time.Minute
)

type event struct {
	ID, Type string
	Data     struct{ Name string }
}

// isGenuine tells whether Signet signed the message, at most five minutes ago.
func isGenuine(key []byte, header http.Header, body []byte) bool {
	id, sent := header.Get("webhook-id"), header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(sent, 10, 64)
	if age := time.Since(time.Unix(seconds, 0)); err != nil || age > tolerance || age < -tolerance {
		return false
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", id, sent, body)
	due := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	// One for each live secret: there are two after a rotation.
	for _, given := range strings.Split(header.Get("webhook-signature"), " ") {
		if hmac.Equal([]byte(due), []byte(given)) {
			return true
		}
	}
	return false
}

func main() {
	secret := strings.TrimPrefix(strings.TrimSpace(os.Getenv("WEBHOOK_SECRET")), "whsec_")
	key, err := base64.StdEncoding.DecodeString(secret)
	// Everybody could sign with an empty key.
	if err != nil || len(key) < 24 {
		log.Fatal("WEBHOOK_SECRET is not a secret of a webhook.")
	}
	// In production: a table, kept for as long as retries can come.
	var seen sync.Map
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBytes))
		if err != nil {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			return
		}
		var got event
		if !isGenuine(key, r.Header, body) || json.Unmarshal(body, &got) != nil {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if _, isKnown := seen.LoadOrStore(got.ID, true); !isKnown {
			fmt.Println(got.Type, got.Data.Name)
		}
		w.WriteHeader(http.StatusNoContent)
	})
	log.Fatal(http.ListenAndServe("localhost:"+os.Getenv("PORT"), nil))
}
