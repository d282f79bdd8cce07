// Runs before each request. Reads are sent; what becomes of changes is up to the variable `writes`.
const { url, body, method } = pm.request;
const writes = pm.variables.get('writes');
pm.variables.set('dryRun', String(writes !== 'yes'));

if (!['no', 'dry-run', 'yes'].includes(writes)) {
  // newman sends a request although its script has failed: only `leaveOut` keeps it back.
  pm.test('writes is no, dry-run or yes', () => pm.expect.fail(writes));
  leaveOut(`writes is ${writes}`);
} else if (method !== 'GET' && writes === 'no') {
  leaveOut('it is a change, and writes is no');
} else if (method !== 'GET' && writes === 'dry-run' && !url.query.has('dryRun')) {
  leaveOut('its work could not be undone');
}

// The ids come from the answers before, or from whoever runs this.
const sent = `${url.getPath()}?${url.getQueryString()} ${body?.raw ?? ''}`;
const unknown = [...sent.matchAll(/\{\{(\w+Id)\}\}/g)].find(([, name]) => !pm.variables.has(name));
if (unknown) leaveOut(`${unknown[1]} is not known`);

function leaveOut(reason) {
  console.log(`left out: ${reason}`);
  pm.execution.skipRequest();
}
