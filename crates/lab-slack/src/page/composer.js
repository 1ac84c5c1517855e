// The field in which a person writes: Enter sends, Shift and Enter makes a line, @ # : and / are completed.

import { h, icon } from './dom.js';
import { emojiNames, emojiOf } from './emoji.js';

/**
 * Makes a composer. `acts`: send(text, broadcast), people(), places(), commands(), share(file), saved(text) keeps a draft,
 * last() edits the person's last message.
 */
export function composer(acts, { id, label, broadcast }) {
  const area = h('textarea', { id, rows: 1, placeholder: label, 'aria-label': label, 'aria-autocomplete': 'list', 'aria-controls': `${id}-list`, maxlength: 40000, autocomplete: 'off', enterkeyhint: 'send' });
  const list = h('div', { class: 'offers', role: 'listbox', id: `${id}-list`, hidden: true });
  const also = broadcast ? h('label', { class: 'also' }, h('input', { type: 'checkbox' }), ' Also send to the channel') : null;
  const go = h('button', { type: 'submit', class: 'primary send', 'aria-label': 'Send', title: 'Send' }, icon('send'));
  const picker = h('input', { type: 'file', hidden: true, onchange: async () => { for (const one of picker.files) await acts.share(one); picker.value = ''; } });
  const clip = h('button', { type: 'button', class: 'bare', 'aria-label': 'Attach a file', title: 'Attach a file', onclick: () => picker.click() }, icon('clip'));
  const form = h('form', { class: 'composer' }, list, h('div', { class: 'box' }, clip, area, go), picker, also);
  let picked = 0;
  let offers = [];

  const grow = () => {
    area.style.height = 'auto';
    area.style.height = `${Math.min(area.scrollHeight, 200)}px`;
    go.disabled = area.value.trim() === '';
  };

  function offered() {
    const before = area.value.slice(0, area.selectionStart);
    const found = /(^|\s)([@#:/])([\p{L}\p{N}._+-]{0,40})$/u.exec(before);
    if (!found) return [];
    const [, , sign, word] = found;
    const start = before.length - word.length - 1;
    const has = (name) => name.toLowerCase().includes(word.toLowerCase());
    const make = (insert, shown, note) => ({ insert: `${insert} `, shown, note, start });
    if (sign === '@') return acts.people().filter((one) => has(one.name) || has(one.real)).slice(0, 8).map((one) => make(`@${one.name}`, `@${one.name}`, one.real));
    if (sign === '#') return acts.places().filter((one) => has(one)).slice(0, 8).map((one) => make(`#${one}`, `#${one}`, ''));
    if (sign === ':' && word.length > 1) return emojiNames(word.toLowerCase()).map((one) => make(`:${one}:`, `${emojiOf(one)} :${one}:`, ''));
    if (sign === '/' && start === 0) return acts.commands().filter((one) => one.name.slice(1).startsWith(word)).map((one) => make(one.name, one.name, one.hint));
    return [];
  }

  function show() {
    offers = offered();
    picked = Math.min(picked, Math.max(0, offers.length - 1));
    list.hidden = offers.length === 0;
    list.replaceChildren(...offers.map((offer, at) => h('div', {
      role: 'option', id: `${id}-${at}`, class: 'offer', 'aria-selected': String(at === picked),
      onpointerdown: (event) => { event.preventDefault(); take(at); },
    }, offer.shown, offer.note && h('small', {}, offer.note))));
    if (offers.length > 0) area.setAttribute('aria-activedescendant', `${id}-${picked}`);
    else area.removeAttribute('aria-activedescendant');
  }

  function take(at) {
    const offer = offers[at];
    const rest = area.value.slice(area.selectionStart);
    area.value = area.value.slice(0, offer.start) + offer.insert + rest;
    area.selectionStart = area.selectionEnd = offer.start + offer.insert.length;
    changed();
  }

  function changed() {
    grow();
    show();
    acts.saved(area.value);
  }

  async function submit() {
    const text = area.value;
    if (text.trim() === '') return;
    const to = also?.querySelector('input').checked ?? false;
    area.value = '';
    changed();
    if (!(await acts.send(text, to)) && area.value === '') {
      area.value = text;
      changed();
    }
  }

  area.addEventListener('input', () => { picked = 0; changed(); });
  area.addEventListener('click', show);
  area.addEventListener('blur', () => { list.hidden = true; });
  area.addEventListener('keydown', (event) => {
    if (event.isComposing) return;
    if (!list.hidden) {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      const typed = area.value.slice(offers[picked].start, area.selectionStart);
      if (event.key === 'Enter' && typed === offers[picked].insert.trim()) {
        // The word is complete: Enter means send.
        list.hidden = true;
        event.preventDefault();
        submit();
        return;
      }
      if (step) picked = (picked + step + offers.length) % offers.length;
      else if (event.key === 'Tab' || event.key === 'Enter') take(picked);
      else if (event.key === 'Escape') { list.hidden = true; event.stopPropagation(); event.preventDefault(); return; }
      else return;
      event.preventDefault();
      show();
    } else if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault();
      submit();
    } else if (event.key === 'ArrowUp' && area.value === '') {
      event.preventDefault();
      acts.last();
    }
  });
  area.addEventListener('paste', (event) => {
    const files = [...(event.clipboardData?.files ?? [])];
    if (files.length > 0) {
      event.preventDefault();
      files.forEach(acts.share);
    }
  });
  form.addEventListener('submit', (event) => { event.preventDefault(); submit(); });
  grow();
  return { node: form, area, set: (text) => { area.value = text; grow(); } };
}
