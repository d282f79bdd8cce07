/** The media types of a body. */
export const contentTypes = ['application/json'] as const;

/**
 * Those of a patch. Absent and null mean in the inputs of mutations what they mean in a merge patch (RFC 7396 §1), by
 * either name.
 */
export const patchTypes = [...contentTypes, 'application/merge-patch+json'] as const;

/** The media types of the bodies that a method takes, the first for whoever can choose. */
export const contentTypesOf = ({ method }: { readonly method: string }): readonly string[] =>
  method === 'PATCH' ? patchTypes : contentTypes;
