import { useAddress } from '../address.ts';

/** Whether something is open, kept in the address: `?create=true` opens the dialog `create`. */
export function useOpenInAddress(name: string): {
  readonly isOpen: boolean;
  open(): void;
  close(): void;
} {
  const { address, change } = useAddress();
  return {
    isOpen: address[name] === 'true',
    open: () => change({ [name]: 'true' }),
    close: () => change({ [name]: undefined }, { replace: true }),
  };
}
