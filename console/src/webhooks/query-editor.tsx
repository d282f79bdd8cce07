import {
  acceptCompletion,
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import {
  bracketMatching,
  HighlightStyle,
  indentOnInput,
  syntaxHighlighting,
} from '@codemirror/language';
import { Compartment, EditorState } from '@codemirror/state';
import { drawSelection, EditorView, keymap, placeholder, tooltips } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { graphql as graphqlMode, updateSchema } from 'cm6-graphql';
import { useEffect, useRef } from 'react';
import styles from './webhooks.module.css';

/** The properties of the editor, which is loaded when it is first shown. */
export interface QueryEditorProps {
  readonly label: string;
  readonly about: string;
  readonly value: string;
  readonly hint: string;
  readonly isInvalid: boolean;
  readonly isReadOnly: boolean;
  /** The caret position at which to take the focus; absent: it does not take it. */
  readonly caret: number | undefined;
  readonly onChange: (value: string) => void;
  readonly onBlur: () => void;
  /** Called with the element that takes the focus; null once it is removed. */
  readonly focusRef: (editor: { focus(): void } | null) => void;
}

/** An editor for a subscription document. It suggests fields once the schema is loaded. */
export default function QueryEditor({
  label,
  about,
  value,
  hint,
  isInvalid,
  isReadOnly,
  caret,
  onChange,
  onBlur,
  focusRef,
}: QueryEditorProps) {
  const container = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const attributes = useRef(new Compartment());
  const latest = useRef({ onChange, onBlur, value });
  latest.current = { onChange, onBlur, value };

  // biome-ignore lint/correctness/useExhaustiveDependencies: created once; changes are passed on below.
  useEffect(() => {
    const host = container.current;
    if (!host) return undefined;
    // The policy allows no style elements: in a shadow root the editor uses constructed style sheets.
    const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
    const editor = new EditorView({
      parent: root,
      root,
      state: EditorState.create({
        doc: latest.current.value,
        extensions: [
          history(),
          drawSelection(),
          indentOnInput(),
          bracketMatching(),
          closeBrackets(),
          autocompletion({ icons: false }),
          tooltips({ position: 'absolute' }),
          keymap.of([
            { key: 'Tab', run: acceptCompletion },
            ...closeBracketsKeymap,
            ...defaultKeymap,
            ...historyKeymap,
            ...completionKeymap,
          ]),
          syntaxHighlighting(colors),
          look,
          placeholder(hint),
          EditorView.lineWrapping,
          graphqlMode(undefined, { showErrorOnInvalidSchema: false }),
          attributes.current.of([]),
          EditorView.updateListener.of(({ docChanged, state }) => {
            if (docChanged) latest.current.onChange(state.doc.toString());
          }),
          EditorView.domEventHandlers({
            blur: () => latest.current.onBlur(),
            beforeinput: replaceSelection,
          }),
        ],
      }),
    });
    view.current = editor;
    focusRef(editor);
    if (caret !== undefined) {
      editor.dispatch({ selection: { anchor: Math.min(caret, editor.state.doc.length) } });
      editor.focus();
    }
    let isThere = true;
    void import('./schema.ts')
      .then(({ schema }) => schema())
      .then((known) => {
        if (isThere && known) updateSchema(editor, known);
      })
      // Without introspection there are no suggestions; the service checks the document anyway.
      .catch(() => {});
    // Escape closes only the suggestions, not the dialog.
    const keepEscape = (event: KeyboardEvent) => {
      if (event.key === 'Escape' && event.defaultPrevented) event.stopPropagation();
    };
    host.addEventListener('keydown', keepEscape);
    return () => {
      isThere = false;
      host.removeEventListener('keydown', keepEscape);
      focusRef(null);
      editor.destroy();
      view.current = undefined;
    };
  }, []);

  useEffect(() => {
    const editor = view.current;
    if (!editor || editor.state.doc.toString() === value) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } });
  }, [value]);

  useEffect(() => {
    view.current?.dispatch({
      effects: attributes.current.reconfigure([
        EditorState.readOnly.of(isReadOnly),
        EditorView.editable.of(!isReadOnly),
        // An id outside the shadow root cannot be referred to from inside.
        EditorView.contentAttributes.of({
          'aria-label': label,
          'aria-description': about,
          'aria-invalid': String(isInvalid),
          ...(isReadOnly ? { tabindex: '0', 'aria-readonly': 'true' } : {}),
        }),
      ]),
    });
  }, [label, about, isInvalid, isReadOnly]);

  return <div ref={container} className={styles.editor} data-invalid={isInvalid || undefined} />;
}

// By default, the browser keeps the style of replaced text in a style attribute, which the policy forbids.
function replaceSelection(event: InputEvent, view: EditorView): boolean {
  const { data, inputType } = event;
  const { state } = view;
  if (inputType !== 'insertText' || !data || state.selection.main.empty || state.readOnly)
    return false;
  const { from, to } = state.selection.main;
  const insert = () =>
    state.update(state.replaceSelection(data), { userEvent: 'input.type', scrollIntoView: true });
  event.preventDefault();
  const handlers = state.facet(EditorView.inputHandler);
  if (!handlers.some((handler) => handler(view, from, to, data, insert))) view.dispatch(insert());
  return true;
}

const look = EditorView.theme({
  '&': { color: 'var(--text)', fontSize: '0.8125rem', maxHeight: '22rem' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.5', minHeight: '8rem' },
  '.cm-content': { padding: '0.5rem 0', caretColor: 'var(--text)' },
  '.cm-line': { padding: '0 0.625rem' },
  '.cm-placeholder': { color: 'var(--muted)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-selectionBackground, &.cm-focused .cm-selectionBackground': {
    background: 'var(--pressed) !important',
  },
  '&.cm-focused .cm-matchingBracket': { background: 'var(--accent-soft)' },
  '.cm-tooltip': {
    border: '1px solid var(--edge-strong)',
    borderRadius: 'var(--radius)',
    background: 'var(--raised)',
    color: 'var(--text)',
    boxShadow: 'var(--shadow-large)',
    maxWidth: '22rem',
    overflow: 'hidden',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)', maxHeight: '11rem' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '0.125rem 0.5rem' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    background: 'var(--accent)',
    color: 'var(--on-accent)',
  },
  '.cm-completionInfo': { padding: '0.375rem 0.5rem', fontFamily: 'var(--sans)' },
  '.cm-completionDetail': { opacity: '0.8', fontStyle: 'normal' },
  '.cm-diagnostic': { padding: '0.25rem 0.5rem', fontFamily: 'var(--sans)' },
  '.cm-diagnostic-error': { borderLeft: '3px solid var(--bad)' },
  '.cm-lintRange-error': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--bad)',
    textUnderlineOffset: '0.2em',
  },
});

const colors = HighlightStyle.define([
  { tag: [tags.definitionKeyword, tags.keyword], color: 'var(--accent-text)', fontWeight: '500' },
  { tag: [tags.string, tags.special(tags.name)], color: 'var(--good)' },
  { tag: [tags.integer, tags.float, tags.bool, tags.null], color: 'var(--warn)' },
  { tag: tags.lineComment, color: 'var(--muted)' },
  { tag: [tags.atom, tags.modifier], color: 'var(--accent-text)' },
]);
