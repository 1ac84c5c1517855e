// Draws the trees of mrkdwn.js and markdown.js, and rich text.

import { ago, formatDate, moment } from './date.js';
import { h, out } from './dom.js';
import { emojiOf } from './emoji.js';
import { parseMarkdown } from './markdown.js';
import { parseMrkdwn, safeUrl } from './mrkdwn.js';

const emoji = (name) => {
  const char = emojiOf(name);
  return char ? h('span', { class: 'emoji', role: 'img', title: `:${name}:`, 'aria-label': name }, char) : `:${name}:`;
};

const mention = (text, mine) => h('span', { class: mine ? 'mention mine' : 'mention' }, text);

const when = (ts, format, fallback, url) => {
  const text = formatDate(ts, format, fallback);
  const node = h('time', { title: moment(ts).toString() === 'Invalid Date' ? null : `${moment(ts).toLocaleString()} (${ago(moment(ts))})` }, text);
  return url ? out(url, node) : node;
};

/** Draws a list of nodes. */
export function draw(nodes, names) {
  return nodes.map((node) => {
    switch (node.t) {
      case 'text': return node.text;
      case 'br': return h('br');
      case 'bold': return h('strong', {}, draw(node.c, names));
      case 'italic': return h('em', {}, draw(node.c, names));
      case 'strike': return h('s', {}, draw(node.c, names));
      case 'code': return h('code', {}, node.text);
      case 'pre': return h('pre', { tabindex: 0 }, h('code', {}, node.text));
      case 'quote': return h('blockquote', {}, draw(node.c, names));
      case 'link': return out(node.url, node.c ? draw(node.c, names) : node.text);
      case 'user': return mention(`@${names.user(node.id) ?? node.label ?? node.id}`, node.id === names.me);
      case 'channel': return names.open(node.id, `#${names.channel(node.id) ?? node.label ?? node.id}`);
      case 'group': return mention(names.group(node.id) ?? node.label ?? `@${node.id}`, false);
      case 'broadcast': return mention(`@${node.name}`, true);
      case 'date': return when(node.ts, node.format, node.fallback, node.url);
      case 'emoji': return emoji(node.name);
      case 'heading': return h(`h${Math.min(node.level + 2, 6)}`, {}, draw(node.c, names));
      case 'rule': return h('hr');
      case 'paragraph': return h('p', {}, draw(node.c, names));
      case 'list': return list(node, names);
      case 'table': return table(node.rows.map((row) => row.map((cell) => draw(cell, names))), node.align);
      default: return '';
    }
  });
}

function list(node, names) {
  const items = node.items.map((item) => h(
    'li', { class: item.done === undefined ? null : 'task' },
    item.done === undefined ? null : h('input', { type: 'checkbox', checked: item.done, disabled: true, 'aria-label': item.done ? 'done' : 'open' }),
    // One paragraph in an item needs no space around it.
    item.c.length > 0 && item.c[0].t === 'paragraph' ? [draw(item.c[0].c, names), draw(item.c.slice(1), names)] : draw(item.c, names),
  ));
  return node.ordered ? h('ol', { start: node.start }, items) : h('ul', {}, items);
}

/** Draws a table; the first row is its header. */
export function table(rows, align = [], caption) {
  const cell = (tag) => (content, at) => h(tag, { class: align[at] && align[at] !== 'left' ? align[at] : null, scope: tag === 'th' ? 'col' : null }, content);
  const [head, ...body] = rows;
  return h('div', { class: 'table', tabindex: 0, role: 'region', 'aria-label': caption ?? 'Table' }, h(
    'table', {}, caption && h('caption', {}, caption),
    h('thead', {}, h('tr', {}, (head ?? []).map(cell('th')))),
    h('tbody', {}, body.map((row) => h('tr', {}, row.map(cell('td'))))),
  ));
}

export const mrkdwn = (text, names) => draw(parseMrkdwn(text), names);
export const markdown = (text, names) => draw(parseMarkdown(text), names);

/** Draws a text object. */
export function text(object, names) {
  if (!object || typeof object.text !== 'string') return '';
  if (object.type === 'mrkdwn') return mrkdwn(object.text, names);
  return plain(object.text);
}

/** Plain text knows emoji and line breaks, nothing else. */
export function plain(source) {
  return String(source ?? '').split(/(:[a-z0-9_+'-]{1,60}:|\n)/).map((part) => {
    if (part === '\n') return h('br');
    return part.length > 2 && part.startsWith(':') && part.endsWith(':') ? emoji(part.slice(1, -1)) : part;
  });
}

function inline(element, names) {
  const node = (() => {
    switch (element.type) {
      case 'text': return h('span', {}, lines(element.text));
      case 'link': {
        const url = safeUrl(element.url);
        return url ? out(url, element.text || element.url) : h('span', {}, element.text || String(element.url));
      }
      case 'user': return mention(`@${names.user(element.user_id) ?? element.user_id}`, element.user_id === names.me);
      case 'usergroup': return mention(names.group(element.usergroup_id) ?? `@${element.usergroup_id}`, false);
      case 'channel': return names.open(element.channel_id, `#${names.channel(element.channel_id) ?? element.channel_id}`);
      case 'team': return mention(`@${element.team_id}`, false);
      case 'broadcast': return mention(`@${element.range}`, true);
      case 'emoji': return h('span', {}, emoji(String(element.name)));
      case 'color': return h('span', { class: 'color' }, swatch(element.value), String(element.value));
      case 'date': return when(element.timestamp, element.format ?? '', element.fallback, safeUrl(element.url));
      default: return h('span', { class: 'unknown' }, `[${String(element.type)}]`);
    }
  })();
  const style = element.style ?? {};
  let styled = node;
  if (style.code) styled = h('code', {}, styled);
  if (style.strike) styled = h('s', {}, styled);
  if (style.underline) styled = h('u', {}, styled);
  if (style.italic) styled = h('em', {}, styled);
  if (style.bold) styled = h('strong', {}, styled);
  return styled;
}

function swatch(value) {
  const node = h('i', { class: 'swatch', 'aria-hidden': true });
  if (/^#[0-9a-f]{3,8}$/i.test(String(value))) node.style.background = value;
  return node;
}

const lines = (source) => String(source ?? '').split('\n').flatMap((line, at) => (at > 0 ? [h('br'), line] : [line]));
const inlines = (elements, names) => (Array.isArray(elements) ? elements : []).map((element) => inline(element ?? {}, names));

/** Draws the parts of a rich text block. */
export function rich(block, names) {
  return (Array.isArray(block?.elements) ? block.elements : []).map((part) => {
    const border = part.border ? 'bordered' : null;
    switch (part.type) {
      case 'rich_text_section': return h('div', { class: 'rt' }, inlines(part.elements, names));
      case 'rich_text_quote': return h('blockquote', {}, inlines(part.elements, names));
      case 'rich_text_preformatted': return h('pre', { class: border, tabindex: 0 }, h('code', {}, inlines(part.elements, names)));
      case 'rich_text_list': {
        const items = (part.elements ?? []).map((item) => h('li', {}, inlines(item.elements, names)));
        const level = Math.min(Number(part.indent) || 0, 8);
        const kind = `indent-${level} ${border ?? ''}`.trim();
        return part.style === 'ordered' ? h('ol', { class: kind, start: (Number(part.offset) || 0) + 1 }, items) : h('ul', { class: kind }, items);
      }
      default: return h('div', { class: 'unknown' }, `[${String(part.type)}]`);
    }
  });
}
