const capitalize = (name: string) => `${name.charAt(0).toUpperCase()}${name.slice(1)}`;

/** The union that a mutation returns: `createUser` returns `CreateUserResult`. */
export const mutationResultName = (mutation: string): string => `${capitalize(mutation)}Result`;

/** The payload of a successful mutation: `CreateUserPayload`. */
export const mutationPayloadName = (mutation: string): string => `${capitalize(mutation)}Payload`;

/** The one input of a mutation: `CreateUserInput`. */
export const mutationInputName = (mutation: string): string => `${capitalize(mutation)}Input`;
