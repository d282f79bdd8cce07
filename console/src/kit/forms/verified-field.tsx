import { useEffect } from 'react';
import { useFormContext } from 'react-hook-form';
import { CheckField } from './fields.tsx';

/** Whether an address is verified. Another address than the saved one is not, unless it is checked again. */
export function VerifiedField({ name, of, label }: { name: string; of: string; label: string }) {
  const { formState, setValue, watch } = useFormContext();
  const { defaultValues } = formState;
  useEffect(() => {
    const { unsubscribe } = watch((values, { name: changed, type }) => {
      if (changed !== of || type !== 'change') return;
      const isSaved = values[of].trim() === defaultValues?.[of];
      setValue(name, isSaved && defaultValues?.[name], { shouldDirty: true });
    });
    return unsubscribe;
  }, [watch, setValue, defaultValues, name, of]);
  return <CheckField name={name} label={label} />;
}
