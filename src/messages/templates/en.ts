import { type MessageTemplate, unitFor, type Wording } from './wording.ts';

const counted = (count: number, unit: string) => `${count} ${unit}${count === 1 ? '' : 's'}`;
const minutesOf = (minutes: number) => counted(minutes, 'minute');

const timeOf = (minutes: number) => {
  const [unit, length] = unitFor(minutes);
  return counted(Math.round(minutes / length), unit);
};

/** The templates in English. */
export const en: Record<MessageTemplate, Wording> = {
  SIGN_IN: ({ productName, minutes }) => ({
    subject: `Your sign-in code for ${productName}`,
    before: `Use this code to sign in to ${productName}:`,
    action: 'Sign in',
    after: `The code expires in ${minutesOf(minutes)}. Never give it to anyone. If you did not try to sign in, ignore this message.`,
    short: `${productName}: do not share this sign-in code.`,
  }),
  REGISTER: ({ productName, minutes }) => ({
    subject: `Confirm your address for ${productName}`,
    before: `Use this code to create your account at ${productName}:`,
    action: 'Create your account',
    after: `The code expires in ${minutesOf(minutes)}. Never give it to anyone. If you did not want an account, ignore this message.`,
    short: `${productName}: do not share this code to create your account.`,
  }),
  RESET_PASSWORD: ({ productName, minutes }) => ({
    subject: `Reset your password for ${productName}`,
    before: `Use this code to choose a new password at ${productName}:`,
    action: 'Choose a new password',
    after: `The code expires in ${minutesOf(minutes)}. Never give it to anyone. If you did not ask for a new password, ignore this message: yours stays as it is.`,
    short: `${productName}: do not share this code to reset your password.`,
  }),
  LINK: ({ productName, minutes }) => ({
    subject: `Your sign-in link for ${productName}`,
    before: `Open this link to sign in to ${productName}:`,
    action: 'Sign in',
    after: `The link expires in ${minutesOf(minutes)} and can be used once. Never give it to anyone. If you did not try to sign in, ignore this message.`,
    short: `${productName}: open this link to sign in. Do not share it.`,
  }),
  INVITATION: ({ productName, organization, minutes }) => ({
    subject: `You are invited to join ${organization}`,
    before: `You are invited to join the organization ${organization} at ${productName}. Open this link, and sign in or create an account with this e-mail address:`,
    action: `Join ${organization}`,
    after: `The invitation expires in ${timeOf(minutes)}. If you do not know the organization, ignore this message.`,
    short: `${productName}: you are invited to join ${organization}.`,
  }),
  ACCOUNT_EXISTS: ({ productName }) => ({
    subject: `You already have an account at ${productName}`,
    before: `Someone wanted to create an account at ${productName} with your address. You already have one: sign in with it, or choose a new password if you forgot yours.`,
    action: 'Sign in',
    after: 'If that was not you, ignore this message: nothing has changed.',
    short: `${productName}: you already have an account. Sign in with it, or choose a new password.`,
  }),
  NO_ACCOUNT: ({ productName }) => ({
    subject: `No account at ${productName} has this address`,
    before: `Someone wanted to sign in to ${productName} with your address, but no account has it. You may have used another address.`,
    action: 'Create an account',
    after: 'If that was not you, ignore this message.',
    short: `${productName}: no account has this number. You may have used another one.`,
  }),
  VERIFY_IDENTITY: ({ productName, minutes }) => ({
    subject: `Your code for ${productName}`,
    before: `Someone who is signed in wants to change your account at ${productName}. If that is you, use this code:`,
    action: 'Continue',
    after: `The code expires in ${minutesOf(minutes)}. Never give it to anyone. If that is not you, do not use it: choose a new password, and sign out everywhere.`,
    short: `${productName}: do not share this code to change your account.`,
  }),
  VERIFY_ADDRESS: ({ productName, minutes }) => ({
    subject: `Confirm your new address for ${productName}`,
    before: `Use this code to add this address to your account at ${productName}:`,
    action: 'Continue',
    after: `The code expires in ${minutesOf(minutes)}. Never give it to anyone. If you did not ask for it, ignore this message.`,
    short: `${productName}: do not share this code to confirm your new address.`,
  }),
  EMAIL_CHANGED: ({ productName }) => ({
    subject: `Your e-mail address for ${productName} was changed`,
    before: `The e-mail address of your account at ${productName} was changed just now.`,
    action: 'Open your account',
    after:
      'If that was not you, contact the people who run the service at once: someone else may have your account.',
    short: `${productName}: your e-mail address was changed. If that was not you, contact the people who run the service.`,
  }),
  PHONE_CHANGED: ({ productName }) => ({
    subject: `Your phone number for ${productName} was changed`,
    before: `The phone number of your account at ${productName} was changed just now.`,
    action: 'Open your account',
    after:
      'If that was not you, contact the people who run the service at once: someone else may have your account.',
    short: `${productName}: your phone number was changed. If that was not you, contact the people who run the service.`,
  }),
  IDENTITY_ADDED: ({ productName }) => ({
    subject: `A way to sign in to ${productName} was added`,
    before: `An account of another service was linked to your account at ${productName}. You can sign in with it from now on.`,
    action: 'Open your account',
    after:
      'If that was not you, remove it from your account, choose a new password at once, and contact the people who run the service.',
    short: `${productName}: a way to sign in was added. If that was not you, choose a new password at once.`,
  }),
  IDENTITY_REMOVED: ({ productName }) => ({
    subject: `A way to sign in to ${productName} was removed`,
    before: `An account of another service was removed from your account at ${productName}. You cannot sign in with it any more.`,
    action: 'Open your account',
    after:
      'If that was not you, choose a new password at once, and contact the people who run the service.',
    short: `${productName}: a way to sign in was removed. If that was not you, choose a new password at once.`,
  }),
  USERNAME_CHANGED: ({ productName }) => ({
    subject: `Your user name for ${productName} was changed`,
    before: `The user name of your account at ${productName} was changed just now.`,
    action: 'Open your account',
    after:
      'If that was not you, choose a new password at once, and contact the people who run the service.',
    short: `${productName}: your user name was changed. If that was not you, choose a new password at once.`,
  }),
  ACCOUNT_DELETED: ({ productName }) => ({
    subject: `Your account at ${productName} was deleted`,
    before: `Your account at ${productName} was deleted just now, as you asked.`,
    action: 'Create an account',
    after: 'If that was not you, contact the people who run the service.',
    short: `${productName}: your account was deleted. If that was not you, contact the people who run the service.`,
  }),
  PASSWORD_CHANGED: ({ productName }) => ({
    subject: `Your password for ${productName} was changed`,
    before: `The password of your account at ${productName} was changed just now.`,
    action: 'Choose a new password',
    after:
      'If that was not you, choose a new password at once, and contact the people who run the service.',
    short: `${productName}: your password was changed. If that was not you, choose a new one at once.`,
  }),
  FACTOR_ADDED: ({ productName }) => ({
    subject: `A second factor was added to your account at ${productName}`,
    before: `A second factor was added to your account at ${productName} just now. It can be asked for when you sign in.`,
    action: 'Open',
    after:
      'If that was not you, choose a new password at once, and contact the people who run the service.',
    short: `${productName}: a second factor was added to your account. If that was not you, choose a new password at once.`,
  }),
  FACTOR_REMOVED: ({ productName }) => ({
    subject: `A second factor was removed from your account at ${productName}`,
    before: `A second factor of your account at ${productName} was removed just now. It can no longer be used to sign in.`,
    action: 'Open',
    after:
      'If neither you nor an administrator at your request did that, choose a new password at once, and contact the people who run the service.',
    short: `${productName}: a second factor of your account was removed. If you did not want that, contact the people who run the service.`,
  }),
  TEST: ({ productName }) => ({
    subject: `A test message from ${productName}`,
    before: `This is a test. Messages from ${productName} reach you.`,
    action: 'Open',
    after: 'An administrator sent it. There is nothing to do.',
    short: `${productName}: this is a test. Messages reach you.`,
  }),
};
