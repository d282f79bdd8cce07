import { useNavigate, useSearch } from '@tanstack/react-router';

/** What the address says of a list. Each filter has a parameter of its own; several values are joined by commas. */
export type Address = Readonly<Record<string, string | undefined>>;

/** Reads the address's parameters, and changes some: undefined takes one away. */
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

/** Reads an address's parameters: texts, and nothing else. */
export const parseAddress = (search: string): Record<string, string> =>
  Object.fromEntries(new URLSearchParams(search));

/** Writes an address's parameters. Commas and colons stay readable. */
export function writeAddress(address: Record<string, unknown>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(address)) {
    if (value !== undefined && value !== '') parameters.set(name, String(value));
  }
  const text = parameters.toString().replaceAll('%2C', ',').replaceAll('%3A', ':');
  return text && `?${text}`;
}
