// Makes elements. Text becomes text nodes and attributes are set one by one: nothing here reads markup.

/** Makes an element: h('p', { class: 'x', onclick: f }, 'text', node). */
export function h(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else if (name === 'value' || name === 'checked' || name === 'selected' || name === 'disabled') node[name] = value;
    else node.setAttribute(name, value === true ? '' : String(value));
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/** A link that leads out, without telling where it came from. */
export const out = (url, ...children) => h('a', { href: url, target: '_blank', rel: 'noopener noreferrer' }, ...children);

const DRAWN = {
  lock: 'M5 11h14v9H5zM8 11V8a4 4 0 0 1 8 0v3', group: 'M8 12a3 3 0 1 0 0-6 3 3 0 0 0 0 6zm8 0a3 3 0 1 0 0-6M2 20c0-4 3-6 6-6s6 2 6 6m2-6c3 0 6 2 6 6',
  face: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM9 10v.01M15 10v.01M8 14c1 2 2.5 3 4 3s3-1 4-3', reply: 'M4 5v6a4 4 0 0 0 4 4h12M15 10l5 5-5 5',
  edit: 'M4 20l1-5L16 4l4 4L9 19zM14 6l4 4', trash: 'M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v6M14 11v6', send: 'M4 12l16-8-6 16-3-7z',
  eye: 'M2 12c3-5 6-7 10-7s7 2 10 7c-3 5-6 7-10 7s-7-2-10-7zM12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6z', file: 'M6 3h8l5 5v13H6zM14 3v5h5M9 13h7M9 17h7',
  clip: 'M12 5v14M5 12h14',
};

/** A small drawing; it says nothing to a screen reader. */
export function icon(name) {
  const make = (tag, props) => {
    const node = document.createElementNS('http://www.w3.org/2000/svg', tag);
    for (const [key, value] of Object.entries(props)) node.setAttribute(key, value);
    return node;
  };
  const node = make('svg', { viewBox: '0 0 24 24', class: 'icon', 'aria-hidden': 'true' });
  node.append(make('path', { d: DRAWN[name] ?? '' }));
  return node;
}

/** Opens a small menu below a button; arrow keys move, Escape closes. */
export function popup(button, entries, label) {
  const old = document.querySelector('.popup');
  if (old) {
    const mine = old.dataset.owner === button.id && button.id !== '';
    old.remove();
    if (mine) return null;
  }
  button.id ||= `b${Math.random().toString(36).slice(2)}`;
  const menu = h('div', { class: 'popup', role: 'menu', 'aria-label': label, 'data-owner': button.id });
  const close = (back) => {
    menu.remove();
    document.removeEventListener('pointerdown', outside, true);
    button.setAttribute('aria-expanded', 'false');
    if (back) button.focus();
  };
  const outside = (event) => {
    if (!menu.contains(event.target) && !button.contains(event.target)) close(false);
  };
  for (const entry of entries) {
    menu.append(h('button', {
      type: 'button', role: 'menuitem', class: entry.class, title: entry.title, 'aria-label': entry.title,
      onclick: () => { close(true); entry.act(); },
    }, entry.text, entry.note && h('small', {}, entry.note)));
  }
  menu.addEventListener('keydown', (event) => {
    const items = [...menu.querySelectorAll('[role=menuitem]')];
    const at = items.indexOf(document.activeElement);
    const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
    if (event.key === 'Escape' || event.key === 'Tab') close(true);
    else if (step) items[(at + step + items.length) % items.length].focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  (button.closest('dialog') ?? document.body).append(menu);
  const box = button.getBoundingClientRect();
  const width = menu.offsetWidth;
  menu.style.left = `${Math.max(8, Math.min(box.left, window.innerWidth - width - 8))}px`;
  const below = box.bottom + 4;
  menu.style.top = `${below + menu.offsetHeight > window.innerHeight ? Math.max(8, box.top - menu.offsetHeight - 4) : below}px`;
  button.setAttribute('aria-expanded', 'true');
  document.addEventListener('pointerdown', outside, true);
  menu.querySelector('[role=menuitem]')?.focus();
  return menu;
}

/** Asks before something happens; true if the person says so. */
export function ask({ title, text, confirm, deny, style }) {
  return new Promise((resolve) => {
    const dialog = h('dialog', { class: 'ask', 'aria-label': title });
    const done = (answer) => { dialog.close(); dialog.remove(); resolve(answer); };
    dialog.append(
      h('h2', {}, title), h('div', { class: 'body' }, text),
      h('footer', {}, h('button', { type: 'button', class: 'plain', onclick: () => done(false) }, deny),
        h('button', { type: 'button', class: style ?? 'primary', autofocus: true, onclick: () => done(true) }, confirm)),
    );
    dialog.addEventListener('cancel', (event) => { event.preventDefault(); done(false); });
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** Says something in passing, also to a screen reader. */
export function toast(text, bad = false) {
  const node = h('div', { class: bad ? 'toast bad' : 'toast', role: bad ? 'alert' : 'status' }, text);
  document.getElementById('toasts').append(node);
  setTimeout(() => node.remove(), 6000);
}
