import { createLink } from '@tanstack/react-router';
import type { ComponentProps, ReactNode, Ref } from 'react';
import styles from './button.module.css';
import { classes } from './classes.ts';
import { Icon, type IconName } from './icon.tsx';

interface Look {
  /** `primary` once in a view; `danger` for what cannot be undone. */
  readonly kind?: 'primary' | 'plain' | 'quiet' | 'danger';
  readonly size?: 'normal' | 'small';
  readonly icon?: IconName;
  readonly children?: ReactNode;
}

type ButtonProps = Look & ComponentProps<'button'> & { readonly isBusy?: boolean };

const look = ({ kind = 'plain', size = 'normal' }: Look, className?: string) =>
  classes(styles.button, styles[kind], size === 'small' && styles.small, className);

/** A button with text. */
export const Button = ({
  kind,
  size,
  icon,
  children,
  className,
  isBusy = false,
  ...rest
}: ButtonProps) => (
  <button
    type="button"
    {...rest}
    className={look({ kind, size }, className)}
    // Not `disabled`: that would take the focus from whoever pressed it.
    aria-disabled={isBusy || rest['aria-disabled']}
    onClick={isBusy ? (event) => event.preventDefault() : rest.onClick}
  >
    {isBusy ? <span className={styles.spinner} aria-hidden="true" /> : icon && <Icon name={icon} />}
    {children}
  </button>
);

/** A button with only an icon. Its name is read out and shown on hover. */
export const IconButton = ({
  icon,
  label,
  kind = 'quiet',
  size,
  className,
  ...rest
}: Omit<ButtonProps, 'children' | 'icon' | 'isBusy'> & { icon: IconName; label: string }) => (
  <button
    type="button"
    title={label}
    aria-label={label}
    {...rest}
    className={classes(look({ kind, size }, className), styles.square)}
  >
    <Icon name={icon} />
  </button>
);

/** A link that looks like a button, to what is no page of the console. */
export const ButtonAnchor = ({
  kind,
  size,
  icon,
  children,
  className,
  ...rest
}: Look & ComponentProps<'a'> & { ref?: Ref<HTMLAnchorElement> }) => (
  <a {...rest} className={look({ kind, size }, className)}>
    {icon && <Icon name={icon} />}
    {children}
  </a>
);

/** A link that looks like a button. */
export const ButtonLink = createLink(ButtonAnchor);
