// Shows the modal that an app opened, one above another, and sends what was filled in.

import { h } from './dom.js';
import { drawBlocks } from './block.js';
import { plain } from './render.js';

/** Reads every field into { block_id: { action_id: value } }. */
export function values(fields) {
  const all = {};
  for (const { block, element, read } of fields.values()) {
    all[block.block_id] ??= {};
    all[block.block_id][element.action_id] = read();
  }
  return all;
}

/** Puts errors under their fields; returns whether one was found. */
export function showErrors(node, errors) {
  let first = null;
  for (const [block, words] of Object.entries(errors ?? {})) {
    const input = [...node.querySelectorAll('[data-block]')].find((one) => one.dataset.block === block);
    const place = input?.querySelector('.wrong') ?? node.querySelector('.general');
    place.textContent = String(words);
    const field = input?.querySelector('input, select, textarea, [tabindex]');
    field?.setAttribute('aria-invalid', 'true');
    first ??= field ?? place;
  }
  first?.focus?.();
  return first !== null;
}

/** Keeps one dialog in step with the view that is on top. `acts`: context(view, fields), submit(view, values), close(view, all). */
export function modals(acts) {
  let dialog = null;
  let shown = null;

  function take(view) {
    if (!view) {
      dialog?.close();
      dialog?.remove();
      dialog = shown = null;
      return;
    }
    if (shown && shown.id === view.id && shown.hash === view.hash) return;
    // An update keeps what was typed where a block kept its name.
    const kept = shown && shown.id === view.id ? values(shown.fields) : view.state?.values ?? {};
    const fields = new Map();
    if (!dialog) {
      dialog = h('dialog', { class: 'modal' });
      dialog.addEventListener('cancel', (event) => { event.preventDefault(); acts.close(shown.view, false); });
      document.body.append(dialog);
    }
    const known = (block, element) => {
      const value = kept[block.block_id]?.[element.action_id];
      return value && typeof value === 'object' && !Array.isArray(value) && 'type' in value ? content(value) : value;
    };
    const context = { ...acts.context(view, fields), fields, kept: known };
    const close = view.previous_view_id ? 'Back' : view.close?.text ?? 'Cancel';
    const go = h('button', { type: 'submit', class: 'primary' }, plain(view.submit?.text ?? 'Submit'));
    const form = h(
      'form', {
        novalidate: true,
        onsubmit: async (event) => {
          event.preventDefault();
          go.disabled = true;
          form.querySelectorAll('.wrong').forEach((one) => one.replaceChildren());
          form.querySelectorAll('[aria-invalid]').forEach((one) => one.removeAttribute('aria-invalid'));
          try { showErrors(form, await acts.submit(view, values(fields))); } finally { go.disabled = false; }
        },
      },
      h('header', {}, h('h2', { id: 'modal-title' }, plain(view.title?.text ?? '')), h('button', { type: 'button', class: 'bare', 'aria-label': 'Close', onclick: () => acts.close(view, true) }, '✕')),
      h('div', { class: 'body' }, h('p', { class: 'wrong general', role: 'alert', tabindex: -1 }), drawBlocks(view.blocks, context)),
      h('footer', {}, h('button', { type: 'button', class: 'plain', onclick: () => acts.close(view, false) }, plain(close)), view.submit || hasInput(view) ? go : null),
    );
    dialog.setAttribute('aria-labelledby', 'modal-title');
    dialog.replaceChildren(form);
    const fresh = shown?.id !== view.id;
    shown = { id: view.id, hash: view.hash, view, fields };
    if (!dialog.open) dialog.showModal();
    if (fresh) (form.querySelector('[autofocus]') ?? form.querySelector('.body :is(input, select, textarea, button)') ?? go).focus();
  }
  return { take, top: () => shown?.view ?? null };
}

const hasInput = (view) => (view.blocks ?? []).some((block) => block.type === 'input');

/** What is inside a field that came in Slack's form. */
function content(field) {
  const [, value] = Object.entries(field).find(([name]) => name !== 'type') ?? [];
  if (Array.isArray(value)) return value.map((one) => one?.value ?? one);
  return value && typeof value === 'object' && 'value' in value ? value.value : value ?? undefined;
}
