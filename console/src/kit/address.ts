import { useNavigate, useSearch } from '@tanstack/react-router';

/** The parameters of the page's address. Each filter has its own; several values are joined by commas. */
export type Address = Readonly<Record<string, string | undefined>>;

/** Reads the address's parameters, and changes some of them; undefined removes one. */
export function useAddress(): {
  readonly address: Address;
  change(changes: Address, options?: { readonly replace?: boolean }): void;
} {
  const address = useSearch({ strict: false }) as Address;
  const navigate = useNavigate();
  return {
    address,
    change(changes, { replace = false } = {}) {
      void navigate({
        to: '.',
        search: (previous: Address) => withoutEmpty({ ...previous, ...changes }),
        replace,
        resetScroll: false,
      } as never); // The parameters differ from route to route.
    },
  };
}

const withoutEmpty = (address: Address): Address =>
  Object.fromEntries(Object.entries(address).filter(([, value]) => value));

/** The values of a parameter that may hold several. */
export const valuesOf = (address: Address, name: string): readonly string[] =>
  address[name]?.split(',').filter(Boolean) ?? [];

/** Parses an address's parameters. Values other than text are dropped. */
export const parseAddress = (search: string): Record<string, string> =>
  Object.fromEntries(new URLSearchParams(search));

/** Formats an address's parameters. Commas and colons are not escaped. */
export function writeAddress(address: Record<string, unknown>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(address)) {
    if (value !== undefined && value !== '') parameters.set(name, String(value));
  }
  const text = parameters.toString().replaceAll('%2C', ',').replaceAll('%3A', ':');
  return text && `?${text}`;
}
