// Runs after each answer: checks it, and keeps the ids in it for the requests that follow.
const answer = pm.response.json();

if (answer.code === 'FORBIDDEN' && answer.requiredScope === 'all') {
  pm.test.skip('is for tokens with the scope all', () => undefined);
} else {
  pm.test('is answered', () => {
    pm.expect(pm.response.code, pm.response.text()).to.be.within(200, 299);
  });
}

// What a dry run creates is not kept.
if (pm.response.code < 300 && !answer.dryRun) {
  const record = Object.values(answer)
    .flat()
    .find((value) => value !== null && typeof value === 'object');
  // A row that joins two records has no id of its own.
  const named = record?.id ? [record] : Object.values(record ?? {});
  for (const { id } of named.filter(Boolean))
    if (typeof id === 'string') pm.collectionVariables.set(`${id.split('_')[0]}Id`, id);
}
