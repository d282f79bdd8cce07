import { claimsOf, type Module } from '../run.ts';

/** A request with these parameters more succeeds. */
const succeedsWith =
  (parameters: Record<string, string>): Module =>
  async (run) => {
    await run.complete(await run.ask(parameters));
  };

/** Parameters of a request that a provider may ignore, but not refuse. */
export const parameters = {
  'oidcc-display-page': succeedsWith({ display: 'page' }),
  'oidcc-display-popup': succeedsWith({ display: 'popup' }),
  'oidcc-ensure-request-with-unknown-parameter-succeeds': succeedsWith({ extra: 'foobar' }),
  'oidcc-login-hint': succeedsWith({ login_hint: 'buffy@localhost' }),
  'oidcc-ui-locales': succeedsWith({ ui_locales: 'se' }),
  'oidcc-claims-locales': succeedsWith({ claims_locales: 'se' }),

  async 'oidcc-ensure-request-with-acr-values-succeeds'(run) {
    const values = run.metadata['acr_values_supported'] as readonly string[];
    const tokens = await run.complete(await run.ask({ acr_values: values.join(' ') }));
    run.recommend(values.includes(String(claimsOf(tokens)['acr'])));
  },

  // Every request here has it.
  'oidcc-ensure-request-with-valid-pkce-succeeds': succeedsWith({}),
} satisfies Record<string, Module>;
