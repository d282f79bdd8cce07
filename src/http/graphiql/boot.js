// Runs in the browser, after the scripts of GraphiQL and graphql-ws.

const {
  workers,
  endpoint: path,
  headers: ownHeaders,
  ...options
} = JSON.parse(document.getElementById('options').textContent);

// The console says which of its themes the frame around has.
const theme = new URLSearchParams(location.search).get('theme');

self.MonacoEnvironment = {
  globalAPI: false,
  getWorkerUrl: (_module, label) => workers[label],
};

const endpoint = new URL(path, location.href.split('?')[0]);

async function ask(operation, headers) {
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: {
      accept: 'application/graphql-response+json, application/json;q=0.9',
      'content-type': 'application/json',
      ...ownHeaders,
      ...headers,
    },
    body: JSON.stringify(operation),
  });
  return response.json();
}

async function* subscribe(operation, headers) {
  const url = new URL(endpoint);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  const client = graphqlWs.createClient({ url: url.href, connectionParams: headers });
  try {
    yield* client.iterate(operation);
  } catch (error) {
    if (!(error instanceof CloseEvent)) throw error;
    throw new Error(`The connection was closed: ${error.reason || error.code}`);
  } finally {
    await client.dispose();
  }
}

function isSubscription(document, operationName) {
  const operations = (document?.definitions ?? []).filter(
    ({ kind }) => kind === 'OperationDefinition',
  );
  const chosen =
    operations.length === 1
      ? operations[0]
      : operations.find(({ name }) => name?.value === operationName);
  return chosen?.operation === 'subscription';
}

YogaGraphiQL.renderYogaGraphiQL(document.getElementById('root'), {
  ...options,
  ...(theme === 'light' || theme === 'dark' ? { forcedTheme: theme } : {}),
  shouldPersistHeaders: false,
  fetcher: (operation, { headers = {}, documentAST } = {}) =>
    isSubscription(documentAST, operation.operationName)
      ? subscribe(operation, headers)
      : ask(operation, headers),
});
