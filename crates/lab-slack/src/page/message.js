// Draws messages, and keeps a list of them in step without touching what did not change.

import { drawAttachments, drawBlocks } from './block.js';
import { ago, clock, dayLine, moment, sameDay } from './date.js';
import { h, icon, out } from './dom.js';
import { emojiOf } from './emoji.js';
import { mrkdwn } from './render.js';

const HUES = ['#5b6abf', '#3b8276', '#a45a52', '#8a6d3b', '#7d5ba6', '#3f7cac', '#9c4f7d', '#5f7f3d'];

/** A picture made of a letter; the color is the person's own. */
export function portrait(user, name) {
  let sum = 0;
  for (const char of String(user)) sum = (sum * 31 + char.codePointAt(0)) % 9973;
  const node = h('span', { class: 'portrait', 'aria-hidden': true }, [...String(name || '?')][0].toUpperCase());
  node.style.background = HUES[sum % HUES.length];
  return node;
}

function size(bytes) {
  if (!Number.isFinite(bytes)) return '';
  return bytes < 1024 ? `${bytes} B` : bytes < 1048576 ? `${(bytes / 1024).toFixed(1)} kB` : `${(bytes / 1048576).toFixed(1)} MB`;
}

function file(one, context) {
  const url = context.file(one.id);
  const name = String(one.title || one.name || one.id);
  if (String(one.mimetype).startsWith('image/')) {
    return h('figure', { class: 'file' }, h('figcaption', {}, name), out(url, h('img', { src: url, alt: one.alt_txt || name, class: 'picture', loading: 'lazy' })));
  }
  return h('a', { class: 'filecard', href: url, download: one.name ?? '' }, icon('file'), h('span', {}, h('strong', {}, name), h('small', {}, `${one.pretty_type ?? one.filetype ?? ''} ${size(one.size)}`.trim())));
}

/** Files of a message: what is no picture first, then the pictures; several of them are small. */
function files(list, context) {
  const pictures = list.filter((one) => String(one.mimetype).startsWith('image/'));
  const others = list.filter((one) => !pictures.includes(one));
  return [
    others.length > 0 ? h('div', { class: 'cards' }, others.map((one) => file(one, context))) : null,
    pictures.length > 1 ? h('div', { class: 'gallery' }, pictures.map((one) => file(one, context))) : pictures.map((one) => file(one, context)),
  ];
}

function reactions(message, acts) {
  const list = (message.reactions ?? []).map((one) => {
    const mine = (one.users ?? []).includes(acts.me);
    const who = (one.users ?? []).map((id) => acts.names.user(id) ?? id).join(', ');
    return h('button', {
      type: 'button', class: mine ? 'reaction mine' : 'reaction', 'aria-pressed': String(mine), title: `${who}: :${one.name}:`,
      onclick: () => acts.react(message, one.name, mine),
    }, emojiOf(one.name) ?? `:${one.name}:`, ' ', String(one.count));
  });
  return list.length > 0 ? h('div', { class: 'reactions' }, list) : null;
}

/** How long ago a message came; seconds are nobody's business. */
const lately = (ts) => (Math.abs(Date.now() - moment(ts)) < 60000 ? 'just now' : ago(moment(ts)));

function replies(message, acts, inThread) {
  if (inThread || !message.reply_count) return null;
  const words = `${message.reply_count} ${message.reply_count === 1 ? 'reply' : 'replies'}`;
  return h('button', { type: 'button', class: 'replies', onclick: () => acts.open(message) }, (message.reply_users ?? []).slice(0, 4).map((id) => portrait(id, acts.names.user(id))), words, h('small', {}, `Last reply ${lately(message.latest_reply)}`));
}

function tools(message, acts, inThread) {
  const tool = (sign, name, act) => h('button', { type: 'button', class: 'bare', 'aria-label': name, title: name, onclick: (event) => act(event.currentTarget) }, sign);
  const own = message.user === acts.me && !message.is_ephemeral;
  return h(
    'div', { class: 'tools', role: 'toolbar', 'aria-label': 'This message' },
    message.is_ephemeral ? null : tool(icon('face'), 'Add a reaction', (node) => acts.pick(node, message)),
    inThread || message.is_ephemeral ? null : tool(icon('reply'), 'Reply in a thread', () => acts.open(message)),
    own ? tool(icon('edit'), 'Edit', () => acts.edit(message)) : null,
    own || message.is_ephemeral ? tool(icon('trash'), message.is_ephemeral ? 'Dismiss' : 'Delete', () => acts.remove(message)) : null,
  );
}

const QUIET = ['channel_join', 'channel_leave', 'channel_topic', 'channel_purpose', 'group_join', 'channel_name'];

/** Where a word behind the text of a message belongs: at the end of its last paragraph, if that is what it ends with. */
function lastWords(content) {
  const last = content.lastElementChild;
  if (last?.matches('.text, .context')) return last;
  if (last?.matches('.section')) return last.querySelector(':scope > .grow > .text:last-child') ?? content;
  return last?.matches('.rich, .markdown') && last.lastElementChild?.matches('.rt, p') ? last.lastElementChild : content;
}

/** Draws one message. */
export function drawMessage(message, acts, { inThread, compact }) {
  const gone = message.subtype === 'tombstone';
  const app = message.bot_profile;
  const name = message.username ?? acts.names.user(message.user) ?? app?.name ?? message.user ?? 'Somebody';
  const context = acts.context(message);
  const blocks = message.blocks && message.blocks.length > 0;
  const body = gone
    ? h('em', { class: 'dim' }, 'This message was deleted.')
    : [
      blocks ? drawBlocks(message.blocks, context) : message.text && h('div', { class: 'block text' }, mrkdwn(message.text, acts.names)),
      drawAttachments(message.attachments, context), files(message.files ?? [], context),
    ];
  const drawn = h('div', { class: 'content' }, body, message.streaming_state === 'in_progress' ? h('span', { class: 'typing', role: 'img', 'aria-label': 'still writing' }, '▍') : null);
  if (message.edited && !gone) lastWords(drawn).append(h('small', { class: 'edited' }, '(edited)'));
  const when = h('time', { datetime: Number.isFinite(Number(message.ts)) ? moment(message.ts).toISOString() : null, title: moment(message.ts).toLocaleString() }, clock(message.ts));
  const kind = ['message', compact && 'compact', message.is_ephemeral && 'ephemeral', gone && 'tomb', QUIET.includes(message.subtype) && 'quiet'];
  const node = h(
    'article', { class: kind.filter(Boolean).join(' '), tabindex: -1, 'data-ts': message.ts, 'aria-label': `${name}, ${clock(message.ts)}` },
    h('div', { class: 'left' }, compact ? when : portrait(message.user, name)),
    h(
      'div', { class: 'right' },
      message.is_ephemeral && h('p', { class: 'only' }, icon('eye'), ' Only visible to you'),
      inThread || message.subtype !== 'thread_broadcast' ? null : h('p', { class: 'only' }, 'replied to a thread'),
      compact ? null : h('p', { class: 'by' }, h('strong', {}, name), app || message.bot_id ? h('span', { class: 'badge' }, 'App') : null, when),
      drawn,
      reactions(message, acts), replies(message, acts, inThread),
    ),
    gone ? null : tools(message, acts, inThread),
  );
  return node;
}

// What is pressed stays where it is until it is let go: a click is none if its node goes between the two.
let pressing = false;
const due = new Map();

function letGo() {
  if (!pressing) return;
  pressing = false;
  // The click comes right behind.
  setTimeout(() => {
    const all = [...due];
    due.clear();
    all.forEach(([list, rest]) => keep(list, ...rest));
  });
}

document.addEventListener('pointerdown', () => { pressing = true; }, true);
for (const end of ['pointerup', 'pointercancel']) document.addEventListener(end, letGo, true);
window.addEventListener('blur', letGo);

/** Empties a list, for other messages. */
export function empty(list) {
  due.delete(list);
  list.replaceChildren();
}

/** Brings a list in step: what is unchanged stays the same node, with its focus and its open menus. */
export function keep(list, messages, acts, options) {
  if (pressing) {
    due.set(list, [messages, acts, { ...options, jump: options.jump || due.get(list)?.[2].jump }]);
    return;
  }
  const stick = list.scrollHeight - list.scrollTop - list.clientHeight < 60;
  const old = new Map([...list.children].map((node) => [node.dataset.key, node]));
  const wanted = [];
  messages.forEach((message, at) => {
    const before = messages[at - 1];
    if (!options.inThread && (!before || !sameDay(before.ts, message.ts))) wanted.push([`day ${message.ts}`, 'x', () => h('div', { class: 'day', role: 'separator' }, h('span', {}, dayLine(message.ts)))]);
    const compact = Boolean(before) && before.user === message.user && before.username === message.username && sameDay(before.ts, message.ts)
      && message.ts - before.ts < 300 && !message.is_ephemeral && !before.is_ephemeral && before.subtype !== 'tombstone' && !(options.inThread && at === 1);
    const print = JSON.stringify([message, compact, acts.names.print]);
    wanted.push([message.ts, print, () => drawMessage(message, acts, { ...options, compact })]);
    if (options.inThread && at === 0 && messages.length > 1) wanted.push(['count', String(messages.length), () => h('div', { class: 'day', role: 'separator' }, h('span', {}, `${messages.length - 1} ${messages.length === 2 ? 'reply' : 'replies'}`))]);
  });
  const focused = document.activeElement?.closest?.('article')?.dataset.ts;
  const nodes = wanted.map(([key, print, make]) => {
    const same = old.get(key);
    if (same && same.dataset.print === print) return same;
    const node = make();
    node.dataset.key = key;
    node.dataset.print = print;
    return node;
  });
  nodes.forEach((node, at) => { if (list.children[at] !== node) list.insertBefore(node, list.children[at] ?? null); });
  while (list.children.length > nodes.length) list.lastChild.remove();
  if (focused && !list.contains(document.activeElement)) [...list.querySelectorAll('article')].find((node) => node.dataset.ts === focused)?.focus({ preventScroll: true });
  if (stick || options.jump) list.scrollTop = list.scrollHeight;
}

/** Arrow keys go from message to message; Enter opens the thread. */
export function arrows(list, open) {
  list.addEventListener('keydown', (event) => {
    if (!event.target.matches('article, .list')) return;
    const all = [...list.querySelectorAll('article')];
    const at = all.indexOf(event.target);
    const to = { ArrowDown: at + 1, ArrowUp: at < 0 ? all.length - 1 : at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (to !== undefined && all[to]) {
      all[to].focus();
      event.preventDefault();
    } else if (event.key === 'Enter' && at >= 0) open(event.target.dataset.ts);
  });
}
