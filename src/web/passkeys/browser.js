// Passkeys on Signet's pages. Everything else on them works without scripts.
// https://www.w3.org/TR/webauthn-3/#sctn-parseCreationOptionsFromJSON

const passkeys = globalThis.PublicKeyCredential;
const form = document.querySelector('form[data-passkey]');

// Tells the browser's password manager which passkeys the service knows (WebAuthn Level 3 §5.1.10).
for (const { dataset } of document.querySelectorAll('[data-passkey-signal]')) {
  for (const [name, options] of Object.entries(JSON.parse(dataset.passkeySignal))) {
    if (name.startsWith('signal')) passkeys?.[name]?.(options).catch(() => {});
  }
}

if (form && passkeys?.parseCreationOptionsFromJSON && passkeys.parseRequestOptionsFromJSON) {
  start(form);
}

function start({ dataset, elements, action }) {
  const button = form.querySelector('button');
  // One request to the authenticator at a time: what began in an earlier turn stops.
  let turn = 0;
  let under = new AbortController();

  async function readOptions() {
    const body = new URLSearchParams({ csrf: elements.csrf.value, options: 'yes' });
    const answer = await fetch(action, { method: 'POST', body, redirect: 'error' });
    if (!answer.ok) throw new Error(`The options were refused with ${answer.status}.`);
    return answer.json();
  }

  const ask = (options, rest) =>
    dataset.passkey === 'create'
      ? navigator.credentials.create({
          publicKey: passkeys.parseCreationOptionsFromJSON(options),
          ...rest,
        })
      : navigator.credentials.get({
          publicKey: passkeys.parseRequestOptionsFromJSON(options),
          ...rest,
        });

  function send(credential) {
    elements.response.value = JSON.stringify(credential);
    form.submit();
  }

  function tell(problem) {
    for (const note of form.querySelectorAll('[data-when]')) {
      note.hidden = note.dataset.when !== problem;
    }
  }

  /** Offers passkeys among the suggestions of the first field (§5.1.4, conditional mediation). */
  async function offer() {
    if (!document.querySelector('input[autocomplete~=webauthn]')) return;
    if (!(await passkeys.isConditionalMediationAvailable?.())) return;
    turn += 1;
    for (const mine = turn; mine === turn; ) {
      const options = await readOptions();
      if (mine !== turn) return;
      under = new AbortController();
      const { signal } = under;
      // A challenge ends; a page may stay open for longer.
      const renewal = setTimeout(() => under.abort(), options.timeout * 0.8);
      try {
        return send(await ask(options, { mediation: 'conditional', signal }));
      } catch (error) {
        if (error.name !== 'AbortError') throw error;
      } finally {
        clearTimeout(renewal);
      }
    }
  }

  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (button.ariaDisabled === 'true') return;
    button.ariaDisabled = 'true';
    turn += 1;
    under.abort();
    tell(undefined);
    try {
      const options = await readOptions().catch(() => undefined);
      // The page that answers the form says what is wrong.
      if (options === undefined) form.submit();
      else send(await ask(options));
    } catch (error) {
      button.ariaDisabled = null;
      tell(error.name === 'InvalidStateError' ? 'known' : 'cancelled');
      offer().catch(() => {});
    }
  });

  // A page that the browser brings back must not send an old response.
  addEventListener('pageshow', ({ persisted }) => {
    elements.response.value = '';
    button.ariaDisabled = null;
    if (persisted) offer().catch(() => {});
  });

  for (const note of document.querySelectorAll('[data-without-passkeys]')) note.hidden = true;
  form.hidden = false;
  offer().catch(() => {});
}
