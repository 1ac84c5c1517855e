// Draws what can be pressed, chosen or filled. A value is plain: a string, a number, a list of strings, null.

import { ask, h, icon as glyph, out, popup } from './dom.js';
import { safeUrl } from './mrkdwn.js';
import { plain, text } from './render.js';

const label = (object) => (typeof object?.text === 'string' ? object.text : '');
const options = (element) => [...(element.options ?? []), ...(element.option_groups ?? []).flatMap((group) => group.options ?? [])];

/** Asks first if the element says so, then acts. */
async function use(element, context, value) {
  const confirm = element.confirm;
  if (confirm) {
    const yes = await ask({
      title: label(confirm.title) || 'Are you sure?', text: text(confirm.text, context.names),
      confirm: label(confirm.confirm) || 'Yes', deny: label(confirm.deny) || 'Cancel', style: confirm.style,
    });
    if (!yes) return false;
  }
  await context.act(element, value);
  return true;
}

/**
 * Draws an element. `context`: names, act(element, value), kept (a value from before), people(kind), suggest(element, query),
 * upload(file), quiet (changes do not act by themselves), id, describedby.
 * Returns { node, read } where read() gives the value, undefined for what holds none.
 */
export function widget(element, context) {
  const make = WIDGETS[element.type];
  if (!make) return { node: h('span', { class: 'unknown' }, `[${String(element.type)}]`), read: () => undefined };
  return make(element, context);
}

function pressed(element, context, body, value, kind = '') {
  const node = h('button', {
    type: 'button', class: `action ${kind} ${['primary', 'danger'].includes(element.style) ? element.style : ''}`.trim(),
    'aria-label': element.accessibility_label || null, 'data-action': element.action_id,
    onclick: async () => {
      node.disabled = true;
      try { await use(element, context, value); } finally { node.disabled = false; }
    },
  }, body);
  return node;
}

const nothing = () => undefined;

function button(element, context) {
  const node = pressed(element, context, plain(label(element.text)));
  const url = safeUrl(element.url);
  if (url) node.addEventListener('click', () => window.open(url, '_blank', 'noopener,noreferrer'));
  return { node, read: nothing };
}

function overflow(element, context) {
  const entries = () => (element.options ?? []).map((option) => ({
    text: plain(label(option.text)), note: label(option.description),
    act: () => {
      const url = safeUrl(option.url);
      if (url) window.open(url, '_blank', 'noopener,noreferrer');
      use(element, context, option.value);
    },
  }));
  const node = h('button', {
    type: 'button', class: 'action more', 'aria-label': 'More actions', 'aria-haspopup': 'menu', 'data-action': element.action_id,
    onclick: () => popup(node, entries(), 'More actions'),
  }, '⋯');
  return { node, read: nothing };
}

function feedback(element, context) {
  const one = (part) => pressed({ ...element, accessibility_label: part?.accessibility_label }, context, plain(label(part?.text)), part?.value, 'quiet');
  return { node: h('span', { class: 'row' }, one(element.positive_button), one(element.negative_button)), read: nothing };
}

function icon(element, context) {
  const names = element.visible_to_user_ids;
  if (Array.isArray(names) && names.length > 0 && !names.includes(context.names.me)) return { node: h('span'), read: nothing };
  const sign = element.icon === 'trash' ? glyph('trash') : '•';
  return { node: pressed(element, context, [sign, ' ', label(element.text)], undefined, 'quiet'), read: nothing };
}

/** An input element that keeps what is in it, and acts when it changes. */
function field(element, context, node, read, moment = 'change') {
  node.setAttribute('data-action', element.action_id ?? '');
  if (context.id) node.id = context.id;
  if (context.describedby) node.setAttribute('aria-describedby', context.describedby);
  if (element.focus_on_load) node.setAttribute('autofocus', '');
  let last = JSON.stringify(read());
  node.addEventListener(moment, async () => {
    context.changed?.();
    const now = read();
    if (context.quiet || JSON.stringify(now) === last) return;
    last = JSON.stringify(now);
    await use(element, context, now);
  });
  return { node, read };
}

function one(element, context, groups, before) {
  const kept = context.kept ?? before ?? '';
  const entry = (option) => h('option', { value: option.value, selected: option.value === kept }, label(option.text) || option.label);
  const node = h(
    'select', { 'aria-label': context.id ? null : label(element.placeholder) || 'Choose' },
    h('option', { value: '', selected: kept === '' }, label(element.placeholder) || 'Choose an option'),
    groups.map((group) => (group.label ? h('optgroup', { label: group.label }, group.options.map(entry)) : group.options.map(entry))),
  );
  return field(element, context, node, () => node.value || null);
}

const grouped = (element) => [
  { options: element.options ?? [] },
  ...(element.option_groups ?? []).map((group) => ({ label: label(group.label), options: group.options ?? [] })),
];

function several(element, context, all, before) {
  const chosen = new Set(context.kept ?? before ?? []);
  const summary = h('summary', { 'aria-label': label(element.placeholder) || 'Choose several' });
  const show = () => {
    const names = all.filter((option) => chosen.has(option.value)).map((option) => label(option.text) || option.label);
    summary.replaceChildren(...(names.length > 0 ? names.map((name) => h('span', { class: 'chip' }, name)) : [label(element.placeholder) || 'Choose several']));
  };
  const filter = h('input', { type: 'search', placeholder: 'Search', 'aria-label': 'Search' });
  const rows = all.map((option) => h('label', { class: 'choice' }, h('input', {
    type: 'checkbox', checked: chosen.has(option.value),
    onchange: (event) => {
      event.stopPropagation();
      if (event.target.checked && chosen.size >= (element.max_selected_items ?? Infinity)) event.target.checked = false;
      else if (event.target.checked) chosen.add(option.value);
      else chosen.delete(option.value);
      show();
    },
  }), h('span', {}, label(option.text) || option.label)));
  filter.addEventListener('input', () => rows.forEach((row) => { row.hidden = !row.textContent.toLowerCase().includes(filter.value.toLowerCase()); }));
  const node = h('details', { class: 'several' }, summary, h('div', { class: 'choices' }, all.length > 8 ? filter : null, rows));
  show();
  return field(element, context, node, () => [...chosen], 'toggle');
}

function choices(kind) {
  return (element, context) => {
    const before = kind === 'radio' ? [element.initial_option?.value] : (element.initial_options ?? []).map((option) => option.value);
    const kept = context.kept === undefined ? before : [context.kept].flat();
    const name = `g${Math.random().toString(36).slice(2)}`;
    const inputs = (element.options ?? []).map((option) => ({ option, input: h('input', { type: kind, name, value: option.value, checked: kept.includes(option.value) }) }));
    const node = h('div', { class: 'group', role: kind === 'radio' ? 'radiogroup' : 'group', tabindex: -1 }, inputs.map(({ option, input }) => h(
      'label', { class: 'choice' }, input,
      h('span', {}, text(option.text, context.names), option.description && h('small', {}, text(option.description, context.names))),
    )));
    const on = () => inputs.filter(({ input }) => input.checked).map(({ option }) => option.value);
    return field(element, context, node, () => (kind === 'radio' ? on()[0] ?? null : on()));
  };
}

function typed(type, before) {
  return (element, context) => {
    const node = h(type === 'area' ? 'textarea' : 'input', {
      type: type === 'area' ? null : type, rows: type === 'area' ? 4 : null, placeholder: label(element.placeholder) || null,
      maxlength: element.max_length, min: element.min_value, max: element.max_value,
      step: type === 'number' ? (element.is_decimal_allowed ? 'any' : 1) : null, autocomplete: 'off',
    });
    node.value = context.kept ?? before(element) ?? '';
    return field(element, context, node, () => (node.value === '' ? null : node.value));
  };
}

const initial = (element) => element.initial_value;

function moment(element, context) {
  const two = (number) => String(number).padStart(2, '0');
  const local = (seconds) => {
    const date = new Date(seconds * 1000);
    return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}T${two(date.getHours())}:${two(date.getMinutes())}`;
  };
  const node = h('input', { type: 'datetime-local' });
  const kept = context.kept ?? element.initial_date_time;
  if (kept) node.value = local(kept);
  return field(element, context, node, () => (node.value ? Math.floor(new Date(node.value).getTime() / 1000) : null));
}

function richInput(element, context) {
  const flat = (part) => (part?.elements ?? []).map((inner) => inner.text ?? flat(inner)).join(part?.type === 'rich_text' ? '\n' : '');
  const node = h('textarea', { rows: Math.min(element.min_lines ?? 4, 20), placeholder: label(element.placeholder) || null });
  const kept = context.kept ?? element.initial_value;
  node.value = typeof kept === 'object' && kept ? flat(kept) : '';
  const read = () => (node.value === '' ? null : { type: 'rich_text', elements: [{ type: 'rich_text_section', elements: [{ type: 'text', text: node.value }] }] });
  return field(element, context, node, read);
}

function files(element, context) {
  const held = [];
  const shown = h('ul', { class: 'files' });
  const picker = h('input', {
    type: 'file', multiple: (element.max_files ?? 10) > 1, accept: (element.filetypes ?? []).map((type) => `.${type}`).join(',') || null,
    onchange: async () => {
      for (const file of [...picker.files].slice(0, (element.max_files ?? 10) - held.length)) {
        const id = await context.upload?.(file);
        if (id) {
          held.push({ id });
          shown.append(h('li', {}, file.name));
        }
      }
      picker.value = '';
      context.changed?.();
    },
  });
  if (context.id) picker.id = context.id;
  picker.setAttribute('data-action', element.action_id ?? '');
  return { node: h('div', {}, picker, shown), read: () => (held.length > 0 ? { type: 'file_input', files: held } : null) };
}

/** A menu that asks the app what to offer while somebody types. Its value is the option as the app offered it. */
function external(multi) {
  return (element, context) => {
    const whole = (option) => (option && typeof option === 'object' ? option : { text: { type: 'plain_text', text: String(option) }, value: String(option) });
    const before = context.kept ?? (multi ? element.initial_options : element.initial_option);
    let chosen = (before === null || before === undefined || before === '' ? [] : [before].flat()).map(whole);
    let offers = [];
    let picked = 0;
    let asked = 0;
    let timer = null;
    const least = element.min_query_length ?? 3;
    const id = `l${Math.random().toString(36).slice(2)}`;
    const list = h('div', { class: 'offers', role: 'listbox', id, hidden: true });
    const chips = h('span', { class: 'row' });
    const node = h('input', {
      type: 'text', role: 'combobox', 'aria-autocomplete': 'list', 'aria-expanded': 'false', 'aria-controls': id, autocomplete: 'off',
      placeholder: label(element.placeholder) || 'Search', 'aria-label': context.id ? null : label(element.placeholder) || 'Search',
    });
    const read = () => (multi ? chosen : chosen[0] ?? null);
    const made = field(element, context, node, read, 'picked');
    const shut = () => { list.hidden = true; node.setAttribute('aria-expanded', 'false'); node.removeAttribute('aria-activedescendant'); };
    const tell = () => { show(); node.dispatchEvent(new Event('picked')); };

    /** Shows what is chosen: as chips where several can be, else in the field itself. */
    function show() {
      if (!multi) { node.value = label(chosen[0]?.text); return; }
      chips.replaceChildren(...chosen.map((option) => h('button', {
        type: 'button', class: 'chip', 'aria-label': `Remove ${label(option.text)}`,
        onclick: () => { chosen = chosen.filter((one) => one !== option); tell(); node.focus(); },
      }, label(option.text), ' ✕')));
    }

    function take(at) {
      const option = offers[at];
      if (!option) return;
      if (!multi) chosen = [option];
      else if (!chosen.some((one) => one.value === option.value) && chosen.length < (element.max_selected_items ?? Infinity)) chosen.push(option);
      node.value = '';
      shut();
      tell();
    }

    function draw(groups) {
      offers = groups.flatMap((group) => group.options ?? []);
      picked = Math.min(picked, Math.max(0, offers.length - 1));
      const row = (option) => {
        const at = offers.indexOf(option);
        return h('div', { role: 'option', id: `${id}-${at}`, class: 'offer', 'aria-selected': String(at === picked), onpointerdown: (event) => { event.preventDefault(); take(at); } }, label(option.text), option.description && h('small', {}, label(option.description)));
      };
      list.replaceChildren(...(offers.length === 0 ? [h('div', { class: 'offer dim' }, 'Nothing found')]
        : groups.map((group) => (group.label ? h('div', { role: 'group', 'aria-label': label(group.label) }, h('small', { class: 'dim' }, label(group.label)), (group.options ?? []).map(row)) : (group.options ?? []).map(row))).flat()));
      list.hidden = false;
      node.setAttribute('aria-expanded', 'true');
      if (offers.length > 0) node.setAttribute('aria-activedescendant', `${id}-${picked}`);
      list.scrollIntoView({ block: 'nearest' });
      list.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
    }

    let groups = [];
    /** Asks after a pause, and forgets an answer to what was typed before. */
    function search() {
      clearTimeout(timer);
      const query = node.value.trim();
      const own = ++asked;
      if ([...query].length < least) { shut(); return; }
      timer = setTimeout(async () => {
        const found = await context.suggest?.(element, query);
        if (own !== asked || !found) return;
        groups = found;
        picked = 0;
        draw(groups);
      }, 150);
    }

    node.addEventListener('input', () => {
      if (!multi && chosen.length > 0 && node.value === '') { chosen = []; tell(); }
      search();
    });
    node.addEventListener('focus', () => { if (least === 0) search(); });
    node.addEventListener('blur', () => { asked += 1; shut(); if (!multi) show(); });
    node.addEventListener('keydown', (event) => {
      const open = !list.hidden && offers.length > 0;
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (open && step) { picked = (picked + step + offers.length) % offers.length; draw(groups); }
      else if (event.key === 'Enter') { if (open) take(picked); }
      else if (event.key === 'Escape' && !list.hidden) shut();
      else if (multi && event.key === 'Backspace' && node.value === '' && chosen.length > 0) { chosen = chosen.slice(0, -1); tell(); }
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
    show();
    return { node: h('span', { class: 'external' }, chips, made.node, list), read };
  };
}

const people = (kind, name) => (element, context) => one(element, context, [{ options: context.people(kind, element) }], element[name]);
const manyPeople = (kind, name) => (element, context) => several(element, context, context.people(kind, element), element[name]);

function workflow(element, context) {
  const url = safeUrl(element.workflow?.trigger?.url);
  const node = pressed(element, context, plain(label(element.text)));
  return { node: url ? h('span', {}, node, ' ', out(url, '↗')) : node, read: nothing };
}

const WIDGETS = {
  button, overflow, feedback_buttons: feedback, icon_button: icon, workflow_button: workflow,
  static_select: (element, context) => one(element, context, grouped(element), element.initial_option?.value),
  multi_static_select: (element, context) => several(element, context, options(element), (element.initial_options ?? []).map((option) => option.value)),
  users_select: people('users', 'initial_user'), conversations_select: people('conversations', 'initial_conversation'),
  channels_select: people('channels', 'initial_channel'), multi_users_select: manyPeople('users', 'initial_users'),
  multi_conversations_select: manyPeople('conversations', 'initial_conversations'),
  multi_channels_select: manyPeople('channels', 'initial_channels'),
  external_select: external(false), multi_external_select: external(true),
  radio_buttons: choices('radio'), checkboxes: choices('checkbox'),
  datepicker: typed('date', (element) => element.initial_date), timepicker: typed('time', (element) => element.initial_time),
  datetimepicker: moment, plain_text_input: (element, context) => typed(element.multiline ? 'area' : 'text', initial)(element, context),
  number_input: typed('number', initial), email_text_input: typed('email', initial), url_text_input: typed('url', initial),
  rich_text_input: richInput, file_input: files,
};
