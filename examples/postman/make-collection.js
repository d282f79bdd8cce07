// Makes collection.json of openapi.json: a folder for each tag and one for deletions, and variables in place of the ids
// of the examples.
import { readFileSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import converter from 'openapi-to-postmanv2';

const { result, reason, output } = await promisify(converter.convertV2)(
  { type: 'string', data: readFileSync('openapi.json', 'utf8') },
  {
    folderStrategy: 'Tags',
    parametersResolution: 'Example',
    // Switched on, all filters would be sent at once.
    enableOptionalParameters: false,
    alwaysInheritAuthentication: true,
  },
);
if (!result) throw new Error(reason);
const [{ data: collection }] = output;

// Those of the descriptions stay.
const idOfExample = /\b([a-z]+)_[0-7][0-9a-hjkmnp-tv-z]{25}\b/g;
const withVariables = (part) =>
  part && JSON.parse(JSON.stringify(part).replaceAll(idOfExample, '{{$1Id}}'));

for (const { request, ...item } of collection.item.flatMap((folder) => folder.item)) {
  request.url = withVariables(request.url);
  // A change is a dry run even where the scripts fail.
  for (const parameter of request.url.query)
    if (parameter.key === 'dryRun')
      Object.assign(parameter, { disabled: false, value: '{{dryRun}}' });
  request.body = withVariables(request.body);
  item.response.length = 0;
}

// A folder comes after those whose lists give the ids that it needs.
const variablesIn = (value) =>
  [...JSON.stringify(value).matchAll(/\{\{(\w+Id)\}\}/g)].map(([, name]) => name);
const isSent = ({ disabled }) => !disabled;
const neededBy = ({ item }) =>
  item.flatMap(({ request: { url, body } }) =>
    variablesIn([url.variable, url.query.filter(isSent), body?.raw]),
  );
const isRecord = ({ request: { method, url } }) => method === 'GET' && url.path.length === 2;
const givers = new Map(
  collection.item.flatMap((folder) =>
    folder.item
      .filter(isRecord)
      .flatMap(({ request }) => variablesIn(request.url.variable))
      .map((name) => [name, folder]),
  ),
);
const sorted = new Set();
const begun = new Set();
function place(folder) {
  if (begun.has(folder)) return;
  begun.add(folder);
  for (const name of neededBy(folder)) if (givers.has(name)) place(givers.get(name));
  sorted.add(folder);
}
collection.item.forEach(place);

// What others need is deleted after them: parts of a record at the end of its folder, records in the last folder.
const isDeletion = ({ request }) => request.method === 'DELETE';
const isWhole = ({ request }) => request.url.path.length === 2;
const deletions = [];
for (const folder of sorted) {
  const ofFolder = folder.item.filter(isDeletion).reverse();
  deletions.unshift(...ofFolder.filter(isWhole));
  folder.item = [
    ...folder.item.filter((item) => !isDeletion(item)),
    ...ofFolder.filter((item) => !isWhole(item)),
  ];
}
collection.item = [...sorted, { name: 'deletions', item: deletions }];

const script = (listen, file) => ({
  listen,
  script: {
    type: 'text/javascript',
    exec: readFileSync(new URL(file, import.meta.url), 'utf8').split('\n'),
  },
});
collection.event = [script('prerequest', 'before-each.js'), script('test', 'after-each.js')];
collection.auth = { type: 'bearer', bearer: [{ key: 'token', value: '{{bearerToken}}' }] };
collection.variable.push(
  { key: 'bearerToken', value: '' },
  { key: 'writes', value: 'no' },
  { key: 'dryRun', value: 'true' },
);

writeFileSync('collection.json', JSON.stringify(collection, null, 2));
