// Talks to the workspace that serves this page.

/** A refusal or a failure, with a word that can be shown. */
export class Failure extends Error {}

/** Refusals that say more to an app than to a person. */
const WORDS = {
  dispatch_failed: 'no app is connected to this workspace', operation_timeout: 'the app did not answer within three seconds',
  action_not_found: 'this message changed meanwhile', view_not_found: 'this dialog is not open any more',
  message_not_found: 'this message is gone', channel_not_found: 'you are not in that conversation', not_in_channel: 'you are not in the channel where the app is',
  cant_update_message: 'only its author can change a message', already_reacted: 'you reacted with this already',
};

async function call(path, options) {
  let answer;
  try {
    answer = await fetch(path, { ...options, credentials: 'same-origin', cache: 'no-store' });
  } catch {
    throw new Failure('the workspace does not answer');
  }
  const body = await answer.json().catch(() => null);
  if (!answer.ok && body === null) throw new Failure(`the workspace answered ${answer.status}`);
  if (body && body.ok === false && !body.errors) throw new Failure(body.why ?? WORDS[body.error] ?? String(body.error ?? 'refused').replaceAll('_', ' '));
  return body;
}

/** Reads: get('/lab/thread', { user, channel, ts }). */
export function get(path, query = {}) {
  const words = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== undefined && value !== null));
  return call(`${path}?${words}`, {});
}

/** Acts. */
export const post = (path, body) => call(path, {
  method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body),
});

/** Sends a file with a few words beside it, the file last. */
export function send(path, fields, file) {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append('file', file, file.name);
  return call(path, { method: 'POST', body: form });
}

/** Where the bytes of a file are. */
export const fileUrl = (id, user) => `/lab/file?${new URLSearchParams({ id, user })}`;

/**
 * Listens. `seen(notice)` for each change, `state(up)` when the line comes or goes; returns a function that ends it.
 * The browser's own reconnecting gives up after some errors, so this does not rely on it.
 */
export function listen(user, seen, state) {
  let source = null;
  let timer = null;
  let wait = 500;
  let ended = false;
  const open = () => {
    source = new EventSource(`/lab/events?${new URLSearchParams({ user })}`);
    source.onopen = () => { wait = 500; state(true); };
    source.addEventListener('change', (event) => {
      let notice = null;
      try { notice = JSON.parse(event.data); } catch { /* a line that is no notice is no reason to stop */ }
      if (notice) seen(notice);
    });
    source.onerror = () => {
      source.close();
      if (ended) return;
      state(false);
      timer = setTimeout(open, wait);
      wait = Math.min(wait * 2, 5000);
    };
  };
  open();
  return () => { ended = true; clearTimeout(timer); source?.close(); };
}
