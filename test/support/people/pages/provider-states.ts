import { newId } from '../../../../src/ids.ts';
import { begin, type PageStage, type PageState } from '../page-states.ts';
import { sendForm } from './hand.ts';

const issuer = 'https://club.example.com';

/** Opens a page while an identity provider is connected; afterwards none is. */
const connected =
  (kind: 'SOCIAL' | 'ENTERPRISE', open: PageState['open']): PageState['open'] =>
  async (stage) => {
    const { prisma } = stage.fixture.database;
    const now = stage.service.clock.now();
    const id = newId('IdentityProvider');
    await prisma.identityProvider.create({
      data: {
        id,
        name: 'Club & Sons',
        kind,
        issuer,
        clientId: 'signet',
        scopes: ['openid'],
        createdAt: now,
        updatedAt: now,
        ...(kind === 'ENTERPRISE' ? { emailDomains: { create: { domain: 'club.example' } } } : {}),
      },
    });
    const page = await open(stage);
    await prisma.identityProvider.delete({ where: { id } });
    return page;
  };

/** A stranger who came back from the provider, and lacks a user name. */
async function profile(stage: PageStage) {
  const { prisma } = stage.fixture.database;
  const page = await begin(stage);
  const [interaction] = await prisma.interaction.findMany({
    orderBy: { createdAt: 'desc' },
    take: 1,
  });
  const [provider] = await prisma.identityProvider.findMany();
  await prisma.newcomer.create({
    data: {
      interactionId: interaction?.id ?? '',
      identityProviderId: provider?.id ?? '',
      issuer,
      subject: 'grace',
      email: 'grace@example.com',
      isEmailVerified: true,
      createdAt: stage.service.clock.now(),
    },
  });
  await page.goto(`${page.url()}/profile`);
  return page;
}

/** The pages of people whom an identity provider signs in. */
export const providerStates: readonly PageState[] = [
  { name: 'sign-in-provider', open: connected('SOCIAL', (stage) => begin(stage)) },
  {
    name: 'sign-in-identifier-first',
    open: connected('ENTERPRISE', (stage) => begin(stage)),
  },
  { name: 'profile', open: connected('SOCIAL', profile) },
  {
    name: 'profile-wrong',
    open: connected('SOCIAL', async (stage) => {
      const page = await profile(stage);
      await page.evaluate("document.querySelector('form').noValidate = true");
      await sendForm(page, { username: '1st' });
      return page;
    }),
  },
  {
    name: 'callback-nobody',
    async open({ service, newContext }) {
      const page = await (await newContext()).newPage();
      await page.goto(`${service.app.services.baseUrl}/sign-in/callback`);
      return page;
    },
  },
];
