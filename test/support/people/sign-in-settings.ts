import { send } from '../operations/graphql.ts';

/** Changes how people sign up and sign in, as an administrator does. */
export async function changeSettings(
  { url }: { readonly url: string },
  token: string,
  input: object,
): Promise<void> {
  const { data, errors } = await send<{ updateSignInExperience: { __typename: string } }, object>(
    { url, token },
    `mutation ($input: UpdateSignInExperienceInput!) {
       updateSignInExperience(input: $input) { __typename ... on Error { message } } }`,
    { input },
  );
  if (data?.updateSignInExperience.__typename !== 'UpdateSignInExperiencePayload')
    throw new Error(`The settings were refused: ${JSON.stringify(data ?? errors)}`);
}
