import { Html, html } from '../../html/markup.ts';
import type { Texts } from './texts.ts';

/** An identity provider, as people know it. */
export interface ProviderChoice {
  readonly id: string;
  readonly name: string;
}

/**
 * The buttons of identity providers, each its own form.
 *
 * @param withOr Whether another way stands above them.
 */
export function providerButtons(
  { base, csrfToken }: { readonly base: string; readonly csrfToken: string },
  t: Texts,
  providers: readonly ProviderChoice[],
  withOr: boolean,
): Html {
  if (providers.length === 0) return new Html('');
  const buttons = providers.map(
    ({ id, name }) =>
      html`<li><form method="post" action="${base}/federation"><input type="hidden" name="csrf" value="${csrfToken}"><input type="hidden" name="provider" value="${id}"><button type="submit" class="quiet">${t.continueWith(name)}</button></form></li>`,
  );
  return html`${withOr && html`<p class="or">${t.or}</p>`}<ul class="ways providers">${buttons}</ul>`;
}
