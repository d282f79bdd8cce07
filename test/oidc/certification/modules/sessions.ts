import { expect } from 'vitest';
import type { Visit } from '../../../support/people/sign-in.ts';
import { claimsOf, later, longState, type Module, type Tokens } from '../run.ts';

/** The errors of a request that may not show a page, and would have to (OpenID Connect Core §3.1.2.6). */
export const interactionErrors = [
  'interaction_required',
  'login_required',
  'account_selection_required',
  'consent_required',
];

/** Signs in, and again at once without being asked: the same person, at the same time. */
const sameSignIn =
  (
    parameters: Record<string, string>,
    second: (tokens: Tokens) => Record<string, string>,
    mustTell = false,
  ): Module =>
  async (run) => {
    const before = await run.complete(await run.ask(parameters));
    const after = await run.completeSilently(await run.ask(second(before)));
    const [first, again] = [claimsOf(before), claimsOf(after)];
    if (mustTell) expect(first.auth_time).toBeTypeOf('number');
    expect(again.auth_time).toBe(first.auth_time);
    expect(again.sub).toBe(first.sub);
  };

/** Signs in, and some seconds later again: the person is asked once more, and the second time is told. */
const newSignIn =
  (seconds: number, second: Record<string, string>): Module =>
  async (run) => {
    const before = await run.complete(await run.ask());
    await later(seconds, async () => {
      const asked = await run.ask(second);
      const page: Visit = await run.open(asked);
      run.review(page, { status: 200, text: /autocomplete="current-password/ });
      const after = await run.complete(asked, page);
      const times = [before, after].map((tokens) => claimsOf(tokens).auth_time);
      expect(times[1]).toBeGreaterThan(times[0] as number);
    });
  };

/** When the person is asked again, and when not. */
export const sessions = {
  'oidcc-prompt-login': newSignIn(1, { prompt: 'login' }),

  async 'oidcc-prompt-none-not-logged-in'(run) {
    const asked = await run.ask({ prompt: 'none', state: longState() });
    run.expectError(asked, await run.open(asked), ...interactionErrors);
  },

  'oidcc-prompt-none-logged-in': sameSignIn({}, () => ({ prompt: 'none' })),
  'oidcc-max-age-1': newSignIn(2, { max_age: '1' }),
  'oidcc-max-age-10000': sameSignIn({ max_age: '15000' }, () => ({ max_age: '10000' }), true),

  'oidcc-id-token-hint': sameSignIn({}, ({ id_token: hint = '' }) => ({
    prompt: 'none',
    id_token_hint: hint,
  })),
} satisfies Record<string, Module>;
