import { type KeyboardEvent, useEffect, useId, useState } from 'react';

/** An option that the arrow keys move over. */
export interface Choosable {
  readonly key: string;
}

/**
 * The keys and roles of a text field with a list of options below (ARIA Authoring Practices, combobox with list
 * autocomplete). The focus stays in the field.
 */
export function useListbox<Item extends Choosable>(
  items: readonly Item[],
  onChoose: (item: Item) => void,
) {
  const id = useId();
  const [active, setActive] = useState(0);
  // A new list starts at its first option.
  const signature = items.map(({ key }) => key).join(' ');
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is the list's change that counts.
  useEffect(() => setActive(0), [signature]);
  useEffect(() => {
    document.getElementById(`${id}-${active}`)?.scrollIntoView({ block: 'nearest' });
  }, [id, active]);
  const move = (by: number) => setActive((active + by + items.length) % Math.max(1, items.length));
  return {
    active,
    input: {
      'aria-controls': `${id}-list`,
      'aria-autocomplete': 'list' as const,
      'aria-activedescendant': items.length > 0 ? `${id}-${active}` : undefined,
      autoComplete: 'off',
      spellCheck: false,
      onKeyDown(event: KeyboardEvent) {
        if (event.key === 'ArrowDown') move(1);
        else if (event.key === 'ArrowUp') move(-1);
        else if (event.key === 'Enter') {
          const item = items[active];
          if (item) onChoose(item);
        } else return;
        event.preventDefault();
      },
    },
    list: { id: `${id}-list` },
    option: (index: number) => ({
      id: `${id}-${index}`,
      'aria-selected': index === active,
      onPointerMove: () => setActive(index),
      onClick() {
        const item = items[index];
        if (item) onChoose(item);
      },
    }),
  };
}
