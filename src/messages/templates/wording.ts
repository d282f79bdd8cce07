/** The purposes of messages; their names are part of the API. */
export const messageTemplates = {
  SIGN_IN: 'A code to sign in with, and a link.',
  REGISTER: 'A code that verifies the address of a new account.',
  RESET_PASSWORD: 'A code to choose a new password with, and a link.',
  LINK: 'A link to sign in with, without a code.',
  INVITATION: 'Invites the reader to an organization, with a link to join it.',
  ACCOUNT_EXISTS: 'Tells the owner of an account that somebody signs up with its address.',
  NO_ACCOUNT: 'Tells the reader that somebody signs in with this address, which has no account.',
  VERIFY_IDENTITY: 'A code by which a signed-in person proves again to be who they are.',
  VERIFY_ADDRESS: 'A code that verifies a new address of an account.',
  PASSWORD_CHANGED: "The account's password has been changed.",
  EMAIL_CHANGED: "The account's e-mail address has been changed.",
  PHONE_CHANGED: "The account's telephone number has been changed.",
  IDENTITY_ADDED: 'An identity at an identity provider has been added to the account.',
  IDENTITY_REMOVED: 'An identity at an identity provider has been removed from the account.',
  USERNAME_CHANGED: "The account's user name has been changed.",
  ACCOUNT_DELETED: 'The account has been deleted by its owner.',
  FACTOR_ADDED: 'A second factor has been added to the account.',
  FACTOR_REMOVED: 'A second factor has been removed from the account.',
  TEST: 'An administrator tries the sender.',
} as const;

/** The purpose of a message. */
export type MessageTemplate = keyof typeof messageTemplates;

/** The values that a template's text may use. */
interface WordingValues {
  readonly productName: string;
  /** How long the message is valid from now. */
  readonly minutes: number;
  /** The name of the organization that the message is about; empty if it is about none. */
  readonly organization: string;
}

/** The unit in which people say a time: minutes, from two hours on hours, and from two days on days. */
export const unitFor = (minutes: number) =>
  minutes >= 2880
    ? (['day', 1440] as const)
    : minutes >= 120
      ? (['hour', 60] as const)
      : (['minute', 1] as const);

/** The text of a template in one language. */
export type Wording = (values: WordingValues) => {
  readonly subject: string;
  /** The paragraph before the code and the link. */
  readonly before: string;
  /** The label of the link. */
  readonly action: string;
  /** The paragraph after them. */
  readonly after: string;
  /** The whole message in one short sentence; it stands before the code, if there is one. */
  readonly short: string;
};
