import { namesOf } from '../../oidc/consent/asked.ts';
import { findConsent } from '../consent/gate.ts';
import { grantConsent } from '../consent/operations.ts';
import { consentPage } from '../pages/consent.ts';
import type { FormPage } from './form-page.ts';
import { frameOf, type Visit } from './visit.ts';

/** Asks whether the application may have what it asks for. */
export const consentForm: FormPage = {
  path: '/consent',
  step: 'CONSENT',
  wrong: (t) => t.problem.ASKED_ANEW,
  async show(visit, { problem }) {
    const { context, interaction } = visit;
    const { prisma } = context.database;
    const consent = await findConsent(prisma, interaction);
    // Another tab was faster.
    if (!consent) return 'signed-in';
    const user = await prisma.user.findUniqueOrThrow({ where: { id: interaction.userId ?? '' } });
    const known = [user.name, user.primaryEmail, user.username, user.primaryPhone];
    return {
      markup: consentPage({
        ...frameOf(
          visit,
          '/consent',
          problem && (problem.faults ? visit.texts.problem.ASKED_ANEW : problem.text),
        ),
        consent,
        shown: namesOf(consent).join(' '),
        person: known.filter((one) => one !== null).slice(0, 2),
        destination: destinationOf(visit),
        otherAccountUrl: otherAccountUrl(visit),
      }),
    };
  },
  async submit({ context, access }, { form }) {
    const scopes = (form.get('shown') ?? '').split(' ').filter(Boolean);
    await grantConsent(context, access, { scopes });
    return 'signed-in';
  },
};

function destinationOf({ parameters }: Visit): string {
  const { protocol, host } = new URL(String(parameters['redirect_uri']));
  return protocol === 'https:' || protocol === 'http:' ? host : protocol.slice(0, -1);
}

/** The authorization request again, for whoever signs in now. */
function otherAccountUrl({ interaction: { restartUrl } }: Visit): string {
  const url = new URL(restartUrl ?? '');
  for (const name of ['login_hint', 'id_token_hint', 'screen_hint']) url.searchParams.delete(name);
  const prompts = (url.searchParams.get('prompt') ?? '').split(' ').filter(Boolean);
  url.searchParams.set('prompt', [...new Set(['login', ...prompts])].join(' '));
  return url.href;
}
