# The schema by introspection, and documents checked against it before they are sent. It needs only graphql-core 3.
import json
import os
import urllib.request

from graphql import (
    DirectiveLocation,
    build_client_schema,
    get_introspection_query,
    parse,
    validate,
)

SIGNET = os.environ.get("SIGNET", "http://localhost:3000")
TOKEN = os.environ["TOKEN"]


def ask(query, variables=None):
    request = urllib.request.Request(
        f"{SIGNET}/graphql",
        json.dumps({"query": query, "variables": variables or {}}).encode(),
        {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as response:
        answer = json.load(response)
    # Only what no form can mend is here: refusals are members of the result.
    if answer.get("errors"):
        raise RuntimeError(answer["errors"])
    return answer["data"]


introspection = ask(get_introspection_query())
# graphql-core 3.2 refuses a location that it does not know, and GraphQL 17 has a new one for @deprecated.
for directive in introspection["__schema"]["directives"]:
    directive["locations"] = [
        location
        for location in directive["locations"]
        if location in DirectiveLocation.__members__
    ]
schema = build_client_schema(introspection)


def checked(query):
    faults = validate(schema, parse(query))
    if faults:
        raise TypeError(faults[0].message)
    return query


CREATE_USER = checked("""
    mutation ($input: CreateUserInput!) {
      createUser(input: $input) {
        __typename
        ... on CreateUserPayload { user { id username } }
        ... on ConflictError { code path }
        ... on Error { message }
      }
    }
""")
USERS = checked("""
    query ($username: String) {
      users(first: 10, filter: { username: $username }) { edges { node { id } } }
    }
""")
UPDATE_USER = checked("""
    mutation ($input: UpdateUserInput!) {
      updateUser(input: $input) {
        __typename
        ... on UpdateUserPayload { user { name primaryEmail } }
        ... on Error { message }
      }
    }
""")

username = "graphql-core"
email = f"{username}@example.com"
created = ask(
    CREATE_USER,
    {"input": {"username": username, "name": "Ada Lovelace", "primaryEmail": email}},
)["createUser"]
if created["__typename"] != "CreateUserPayload":
    raise RuntimeError(created["message"])
print("created", created["user"]["username"])

print("listed", len(ask(USERS, {"username": username})["users"]["edges"]))

# None clears a field, and an absent one stays as it is.
patched = ask(UPDATE_USER, {"input": {"id": created["user"]["id"], "name": None}})["updateUser"]
if patched["__typename"] != "UpdateUserPayload":
    raise RuntimeError(patched["message"])
print("patched", json.dumps(patched["user"]["name"]), patched["user"]["primaryEmail"])

again = ask(CREATE_USER, {"input": {"username": username}})["createUser"]
if again["__typename"] == "ConflictError":
    print("refused", again["code"], again["path"])

try:
    checked("{ users { edges { node { userName } } } }")
except TypeError as fault:
    print("not sent:", fault)
