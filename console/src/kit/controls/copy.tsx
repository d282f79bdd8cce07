import { useEffect, useState } from 'react';
import { useMessages } from '../language/language.ts';
import { Button, IconButton } from './button.tsx';
import { writeToClipboard } from './clipboard.ts';
import styles from './copy.module.css';
import { controlMessages } from './messages.ts';

const shownForMs = 2_000;

/** A button that copies a text. With `thing` it is an icon named for what it copies. */
export function CopyButton({ text, thing }: { text: string; thing?: string }) {
  const t = useMessages(controlMessages);
  const [isCopied, setIsCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => setIsCopied(false), shownForMs);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = async () => setIsCopied(await writeToClipboard(text));
  const icon = isCopied ? 'check' : 'copy';
  return (
    <>
      {thing ? (
        <IconButton icon={icon} label={t.copyThing(thing)} size="small" onClick={copy} />
      ) : (
        <Button icon={icon} size="small" onClick={copy}>
          {t.copy}
        </Button>
      )}
      <span className="visually-hidden" role="status">
        {isCopied ? t.copied : ''}
      </span>
    </>
  );
}

/** An id with a button to copy it. */
export const CopyId = ({ id, thing = 'ID' }: { id: string; thing?: string }) => (
  <span className={styles.id}>
    <code>{id}</code>
    <CopyButton text={id} thing={thing} />
  </span>
);

/** A text to copy, such as a secret or a command. */
export const CopyBlock = ({ text, label }: { text: string; label: string }) => (
  <div className={styles.block} role="group" aria-label={label}>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long line scrolls by keyboard too. */}
    <pre tabIndex={0}>{text}</pre>
    <CopyButton text={text} />
  </div>
);
