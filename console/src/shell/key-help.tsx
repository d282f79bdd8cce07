import { Dialog } from '../kit/dialogs/dialog.tsx';
import { useMessages } from '../kit/language/language.ts';
import { defineMessages } from '../kit/language/messages.ts';
import styles from './key-help.module.css';
import { shellMessages } from './messages.ts';
import { destinations } from './navigation.ts';

const messages = defineMessages({
  en: {
    palette: 'Go to a page, a record, or an action',
    search: 'Search in the list',
    help: 'Show these keys',
    close: 'Close a window or a list',
    tabs: 'Move between tabs, and between events',
    goTo: 'Go to',
    everywhere: 'Everywhere',
  },
  de: {
    palette: 'Zu einer Seite, einem Eintrag oder einer Aktion gehen',
    search: 'In der Liste suchen',
    help: 'Diese Tasten zeigen',
    close: 'Ein Fenster oder eine Liste schließen',
    tabs: 'Zwischen Reitern und zwischen Ereignissen wechseln',
    goTo: 'Gehe zu',
    everywhere: 'Überall',
  },
});

/** The dialog with the keyboard shortcuts. */
export default function KeyHelp({ onClose }: { onClose: () => void }) {
  const t = useMessages(messages);
  const names = useMessages(shellMessages);
  return (
    <Dialog title={names.keyHelp} isOpen onClose={onClose}>
      <div className={styles.columns}>
        <section>
          <h3 className={styles.title}>{t.everywhere}</h3>
          <dl className={styles.keys}>
            <Key keys={['Ctrl', 'K']} does={t.palette} />
            <Key keys={['/']} does={t.search} />
            <Key keys={['?']} does={t.help} />
            <Key keys={['Esc']} does={t.close} />
            <Key keys={['←', '→', '↑', '↓']} does={t.tabs} />
          </dl>
        </section>
        <section>
          <h3 className={styles.title}>{t.goTo}</h3>
          <dl className={styles.keys}>
            {destinations.map(({ to, text, key }) => (
              <Key key={to} keys={['g', key]} does={names[text]} />
            ))}
          </dl>
        </section>
      </div>
    </Dialog>
  );
}

const Key = ({ keys, does }: { keys: readonly string[]; does: string }) => (
  <div className={styles.row}>
    <dt>
      {keys.map((key) => (
        <kbd key={key} className={styles.key}>
          {key}
        </kbd>
      ))}
    </dt>
    <dd>{does}</dd>
  </div>
);
