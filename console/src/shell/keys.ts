import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { covers, useSession } from '../kit/session/session.ts';
import { destinations } from './navigation.ts';

const secondKeyWithinMs = 1_500;

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

const isInDialog = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('[role="dialog"]') !== null;

/**
 * The keyboard shortcuts of all pages: `Ctrl K`, `?`, `/`, and `g` followed by a page's letter.
 *
 * @param on.onAhead Gets the keys typed while the palette is open but has no focus yet, because it still loads; there
 *   are no shortcuts then.
 */
export function useKeys(on: {
  onPalette: () => void;
  onHelp: () => void;
  onAhead: ((key: string) => void) | undefined;
}): void {
  const navigate = useNavigate();
  const { scopes } = useSession();
  const handlers = useRef(on);
  handlers.current = on;
  // It outlives the effect, which runs again when the session is read again.
  const goSince = useRef(0);
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        handlers.current.onPalette();
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const { onAhead } = handlers.current;
      if (onAhead && !isInDialog(event.target)) {
        event.preventDefault();
        onAhead(event.key);
        return;
      }
      if (isTyping(event.target)) return;
      if (document.querySelector('[role="dialog"], [role="alertdialog"]')) return;
      if (event.key === '?') {
        event.preventDefault();
        handlers.current.onHelp();
      } else if (event.key === '/') {
        const search = document.querySelector<HTMLInputElement>('[data-search]');
        if (search) event.preventDefault();
        search?.focus();
      } else if (event.timeStamp - goSince.current < secondKeyWithinMs) {
        goSince.current = 0;
        const page = destinations.find(
          ({ key, scope }) => key === event.key && (!scope || covers(scopes, scope)),
        );
        if (page) void navigate({ to: page.to });
      } else if (event.key === 'g') {
        goSince.current = event.timeStamp;
      }
    };
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, [navigate, scopes]);
}
