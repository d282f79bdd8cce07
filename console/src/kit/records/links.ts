/** The address of a record's page. */
export interface RecordLink {
  readonly to: string;
  readonly search?: Readonly<Record<string, string>>;
}

const pages: Readonly<Record<string, (id: string) => RecordLink>> = {
  user: (id) => ({ to: `/users/${id}` }),
  app: (id) => ({ to: `/applications/${id}` }),
  role: (id) => ({ to: `/roles/${id}` }),
  res: (id) => ({ to: `/apis/${id}` }),
  org: (id) => ({ to: `/organizations/${id}` }),
  hook: (id) => ({ to: `/webhooks/${id}` }),
  evt: (id) => ({ to: '/events', search: { event: id } }),
};

/** The address of the page of the record with an id; undefined if its kind has no page. */
export const linkTo = (id: string): RecordLink | undefined =>
  pages[id.slice(0, id.lastIndexOf('_'))]?.(id);
