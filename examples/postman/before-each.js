// Runs before each request. Reads are sent; what becomes of changes is up to the variable `writes`.
const { url, body, method } = pm.request;
const writes = pm.variables.get('writes');
// An error here would not keep the request from being sent; only `leaveOut` does.
if (!['no', 'dry-run', 'yes'].includes(writes)) {
  pm.test('writes is no, dry-run or yes', () => pm.expect.fail(writes));
  leaveOut(`writes is ${writes}`);
}

const dryRun = url.query.one('dryRun');
if (dryRun && writes === 'dry-run') dryRun.disabled = false;
const isDryRun = /\bdryRun=true\b/.test(url.getQueryString());
if (method !== 'GET' && writes !== 'yes' && !isDryRun)
  leaveOut(dryRun ? `it is a change, and writes is ${writes}` : 'its work could not be undone');

// The ids come from the answers before, or from whoever runs this.
const sent = `${url.getPath()}?${url.getQueryString()} ${body?.raw ?? ''}`;
const unknown = [...sent.matchAll(/\{\{(\w+Id)\}\}/g)].find(([, name]) => !pm.variables.has(name));
if (unknown) leaveOut(`${unknown[1]} is not known`);

function leaveOut(reason) {
  console.log(`left out: ${reason}`);
  pm.execution.skipRequest();
}
