import { describe, expect, test } from 'vitest';
import { readPage } from '../../../scripts/documents/blocks.ts';
import { discovery } from './modules/discovery.ts';
import { logout } from './modules/logout.ts';
import { parameters } from './modules/parameters.ts';
import { requestObjects } from './modules/request-objects.ts';
import { responses } from './modules/responses.ts';
import { sessions } from './modules/sessions.ts';
import { tokens } from './modules/tokens.ts';
import { userInfo } from './modules/user-info.ts';
import { type ModuleName, plans } from './plans.ts';
import { type Module, startSuite } from './run.ts';

const modules: Readonly<Record<ModuleName, Module>> = {
  ...responses,
  ...userInfo,
  ...parameters,
  ...sessions,
  ...tokens,
  ...requestObjects,
  ...logout,
  ...discovery,
};

const names = Object.values(plans).flat();
const page = readPage('docs/certification.md');
const documented = [...page.matchAll(/^\| `(oidcc-[\w-]+)` \| ([A-Z ]+) \|/gm)].map(
  ([, name = '', outcome = '']) => [name, outcome] as const,
);

const suite = await startSuite();

test('every module of the plans is tried', () => {
  expect(plans['oidcc-basic-certification-test-plan']).toHaveLength(38);
  expect(Object.keys(modules).sort()).toEqual([...names].sort());
});

test('the documentation has every module, in the suite’s order', () => {
  expect(documented.map(([name]) => name)).toEqual(names);
  for (const plan of Object.keys(plans)) expect(page).toContain(`\`${plan}\``);
});

describe.each(Object.entries(plans))('%s', (_plan, inPlan) => {
  test.each(inPlan)('%s ends as documented', async (name) => {
    const run = suite.start();
    await modules[name](run);
    expect(run.outcome).toBe(new Map(documented).get(name));
  });
});

test('refuses the suite’s other requests, which have no PKCE', async () => {
  const run = suite.start();
  const asked = await run.ask({ code_challenge: undefined, code_challenge_method: undefined });
  run.expectError(asked, await run.open(asked), 'invalid_request');
});

test('logs no fault', () => {
  expect(suite.service.logged.filter(({ level }) => Number(level) >= 50)).toEqual([]);
});
