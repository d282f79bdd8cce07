import { Outlet } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useState } from 'react';
import { connection, socket } from '../kit/api/socket.ts';
import { Brand } from '../kit/controls/brand.tsx';
import { IconButton } from '../kit/controls/button.tsx';
import { Icon } from '../kit/controls/icon.tsx';
import { useMessages } from '../kit/language/language.ts';
import { useSession } from '../kit/session/session.ts';
import { EmptyState } from '../kit/states/state.tsx';
import { useStore } from '../kit/store.ts';
import { keepSession } from './activity.ts';
import { useKeys } from './keys.ts';
import { shellMessages } from './messages.ts';
import styles from './shell.module.css';
import { Sidebar } from './sidebar.tsx';
import { SignOut } from './sign-out.tsx';

const loadPalette = () => import('./palette.tsx');
const Palette = lazy(loadPalette);
const loadOverlays = () => import('./overlays.tsx');
const Overlays = lazy(loadOverlays);
/** When the parts load that no first screen shows: ahead of their use, so that they open at once. */
const overlaysAfterMs = 1_000;
const KeyHelp = lazy(() => import('./key-help.tsx'));

const commandKey = navigator.userAgent.includes('Mac') ? '⌘' : 'Ctrl';

/** The frame of every page. */
export function Shell() {
  const t = useMessages(shellMessages);
  const { scopes } = useSession();
  const [open, setOpen] = useState<'palette' | 'keys' | 'menu' | undefined>();
  const [sought, setSought] = useState('');
  const [isSettled, setIsSettled] = useState(false);
  const close = () => setOpen(undefined);
  const openPalette = () => {
    if (open !== 'palette') setSought('');
    setOpen('palette');
  };
  useKeys({
    onPalette: openPalette,
    onHelp: () => setOpen('keys'),
    onAhead:
      open === 'palette'
        ? (key) => {
            if (key === 'Escape') close();
            else if (key === 'Backspace') setSought((typed) => typed.slice(0, -1));
            else if (key.length === 1) setSought((typed) => typed + key);
          }
        : undefined,
  });
  useEffect(() => void socket(), []);
  useEffect(keepSession, []);
  useEffect(() => {
    const timer = setTimeout(() => {
      // What cannot be loaded now must not take the page away.
      loadOverlays().then(
        () => setIsSettled(true),
        () => undefined,
      );
      loadPalette().catch(() => undefined);
    }, overlaysAfterMs);
    return () => clearTimeout(timer);
  }, []);
  if (scopes.length === 0) return <NothingAllowed />;
  return (
    <div className={styles.shell}>
      <a className={styles.skip} href="#content">
        {t.skip}
      </a>
      <aside className={styles.side}>
        <Sidebar />
      </aside>
      <div className={styles.column}>
        <header className={styles.header}>
          <span className={styles.menu}>
            <IconButton icon="menu" label={t.menu} onClick={() => setOpen('menu')} />
          </span>
          <button type="button" className={styles.jump} onClick={openPalette}>
            <Icon name="search" size={14} />
            <span>{t.jump}</span>
            <kbd className={styles.kbd}>{commandKey} K</kbd>
          </button>
          <ConnectionState />
          <IconButton icon="help" label={t.keyHelp} onClick={() => setOpen('keys')} />
        </header>
        <main id="content" tabIndex={-1} className={styles.main}>
          <Outlet />
        </main>
      </div>
      <Suspense>
        {(isSettled || open === 'menu') && (
          <Overlays isMenuOpen={open === 'menu'} onMenuClose={close} />
        )}
      </Suspense>
      <Suspense>
        {open === 'palette' && <Palette sought={sought} onSeek={setSought} onClose={close} />}
        {open === 'keys' && <KeyHelp onClose={close} />}
      </Suspense>
    </div>
  );
}

function ConnectionState() {
  const t = useMessages(shellMessages);
  const state = useStore(connection);
  return (
    <span className={styles.connection} data-state={state} role="status" title={t[state]}>
      <span className={styles.dot} aria-hidden="true" />
      <span className={state === 'lost' ? undefined : styles.connectionText}>{t[state]}</span>
    </span>
  );
}

function NothingAllowed() {
  const t = useMessages(shellMessages);
  return (
    <main className={styles.alone}>
      <Brand />
      <EmptyState isPage icon="roles" title={t.nothingAllowedTitle} action={<SignOut />}>
        {t.nothingAllowedText}
      </EmptyState>
    </main>
  );
}
