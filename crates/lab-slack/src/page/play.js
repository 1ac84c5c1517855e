// What is played beside the conversation: a case to pick, a fault to add, the cloud as it was.

import { Failure, get, post } from './api.js';
import { h } from './dom.js';

const many = (count, word) => `${count} ${word}${count === 1 ? '' : 's'}`;

/** What became of the last investigation, in a sentence. */
function verdict(last) {
  if (!last) return null;
  const there = last.found.length + last.missed.length;
  const found = there === 0 ? 'Nothing was wrong' : `The last report names ${last.found.length} of ${many(there, 'fault')}`;
  const wrong = last.wrong.length === 0 ? ', and nothing that is not there.' : `, and ${last.wrong.length} that ${last.wrong.length === 1 ? 'is' : 'are'} not there.`;
  return h('div', { class: last.wrong.length === 0 && last.missed.length === 0 ? 'alert success' : 'alert warning' }, h('p', {}, found + wrong), [
    ['found', last.found], ['not named', last.missed], ['not there', last.wrong],
  ].flatMap(([word, pairs]) => pairs.map((pair) => h('p', { class: 'pair' }, h('small', {}, word), h('span', {}, h('code', {}, pair))))));
}

/**
 * Makes the dialog. `acts`: me() is who orders, open(channel, ts) shows a thread that has begun, say(channel, text) puts a text into
 * the field where one writes.
 */
export function player(acts) {
  let dialog = null;
  let busy = false;
  let note = null;

  const close = () => { dialog?.close(); dialog?.remove(); dialog = null; note = null; };

  /** Orders something: one thing at a time, and what went wrong stands in the dialog. */
  async function order(body, done) {
    if (busy) return;
    busy = true;
    note = h('p', { class: 'dim' }, 'One moment…');
    lockUp();
    try {
      const answer = await post('/lab/play', { user: acts.me(), ...body });
      note = done(answer);
    } catch (error) {
      if (!(error instanceof Failure)) console.error(error);
      note = h('p', { class: 'wrong', role: 'alert' }, error instanceof Failure ? `That did not work: ${error.message}.` : 'Something on this page went wrong.');
    }
    busy = false;
    await show();
  }

  function lockUp() {
    dialog?.querySelectorAll('button.orders').forEach((one) => { one.disabled = true; });
    dialog?.querySelector('.note')?.replaceChildren(note ?? '');
  }

  const begun = (answer) => { close(); acts.open(answer.channel, answer.ts); return null; };

  const added = (answer) => h('div', { class: 'next' }, h('p', {}, answer.told), answer.suggested ? [
    h('p', {}, 'Now say what you see, or ask for this: ', h('q', {}, answer.suggested)),
    h('button', { type: 'button', class: 'primary', 'data-play': 'say', onclick: () => { close(); acts.say(answer.channel, `@${answer.app} ${answer.suggested}`); } }, 'Write it'),
  ] : '');

  const summary = (answer) => h('p', {}, answer.told);

  function body(play) {
    const now = [play.case && `Case ${play.case.name.toUpperCase()}, ${play.case.title}`, ...play.faults.filter((one) => one.there).map((one) => one.title)].filter(Boolean);
    return h(
      'div', { class: 'body' },
      h('p', { class: 'now' }, now.length > 0 ? ['In the cloud now: ', h('strong', {}, now.join('; '))] : 'Nothing is wrong in the cloud now.'),
      h('div', { class: 'note', 'aria-live': 'polite' }, note ?? ''),
      play.under_way ? h('div', { class: 'alert info running' }, h('p', { class: 'grow' }, 'An investigation is under way. The cloud stays as it is until its report is there.'), h('button', { type: 'button', class: 'plain orders', 'data-play': 'stop', onclick: () => order({ order: 'stop' }, summary) }, 'Stop it')) : verdict(play.last),
      h('h3', {}, 'Inject another fault'),
      h('p', { class: 'dim' }, 'It joins what is there. Then ask, and try to fool whoever answers.'),
      h('div', { class: 'faults' }, play.faults.map((one) => h('button', {
        type: 'button', class: one.there ? 'plain chip orders there' : 'plain chip orders', 'data-fault': one.name, disabled: play.under_way, 'aria-pressed': String(one.there), onclick: () => order({ order: 'fault', fault: one.name }, added),
      }, one.there ? '✓ ' : '', one.title))),
      h('h3', {}, 'Pick a case'),
      h('p', { class: 'dim' }, 'The cloud is made as it was, the case goes in, and your question opens a thread.'),
      h('ul', { class: 'cases' }, play.cases.map((one) => h('li', {}, h('button', {
        type: 'button', class: 'orders', 'data-case': one.name, title: one.prompt, disabled: play.under_way, onclick: () => order({ order: 'case', case: one.name }, begun),
      }, h('span', { class: 'sign' }, one.name.toUpperCase()), h('span', { class: 'grow' }, h('strong', {}, one.title), h('small', {}, one.prompt)))))),
    );
  }

  /** Draws what is, where the dialog is open. */
  async function show() {
    if (!dialog) return;
    const place = dialog.querySelector('.body')?.scrollTop ?? 0;
    const answer = await get('/lab/play').catch(() => null);
    const play = answer?.play;
    if (!dialog || !play) return;
    dialog.replaceChildren(h(
      'form', { method: 'dialog', onsubmit: (event) => { event.preventDefault(); close(); } },
      h('header', {}, h('h2', { id: 'play-title' }, 'Cases and faults'), h('button', { type: 'button', class: 'bare', 'aria-label': 'Close', onclick: close }, '✕')),
      body(play),
      h('footer', {}, h('button', { type: 'button', class: 'plain orders', 'data-play': 'reset', disabled: play.under_way, onclick: () => order({ order: 'reset' }, summary) }, 'Reset the cloud'), h('button', { type: 'submit', class: 'plain' }, 'Close')),
    ));
    // What was answered is seen first.
    dialog.querySelector('.body').scrollTop = note ? 0 : place;
    if (busy) lockUp();
  }

  async function open() {
    if (dialog) return;
    dialog = h('dialog', { class: 'modal play', 'aria-labelledby': 'play-title' });
    dialog.addEventListener('cancel', (event) => { event.preventDefault(); close(); });
    document.body.append(dialog);
    await show();
    dialog?.showModal();
  }

  return { open, again: () => { if (!busy) show(); } };
}
