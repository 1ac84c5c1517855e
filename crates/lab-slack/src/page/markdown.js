// Reads the Markdown of a `markdown` block into the nodes of mrkdwn.js, and heading, rule, list, table, paragraph.

import { safeUrl } from './mrkdwn.js';

const DEEPEST = 6;
const NAMED = { lt: '<', gt: '>', amp: '&', quot: '"' };
/** A number that names no character stands for the one that says so. */
const scalar = (number) => (number > 0 && number <= 0x10ffff && !(number >= 0xd800 && number <= 0xdfff) ? number : 0xfffd);

/** Reads a whole text. */
export function parseMarkdown(source) {
  return blocks(String(source ?? '').slice(0, 100000).split(/\r?\n/), 0);
}

const ITEM = /^( {0,40})([-*+]|\d{1,9}[.)])[ \t]+(.*)$/;

function blocks(lines, depth) {
  const nodes = [];
  let row = 0;
  while (row < lines.length) {
    const line = lines[row];
    const fence = /^ {0,3}(`{3,}|~{3,})\s*([\w+#.-]{0,40})/.exec(line);
    const heading = /^ {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*$/.exec(line);
    if (line.trim() === '') {
      row += 1;
    } else if (fence) {
      let end = row + 1;
      while (end < lines.length && !lines[end].trim().startsWith(fence[1])) end += 1;
      nodes.push({ t: 'pre', text: lines.slice(row + 1, end).join('\n'), language: fence[2] });
      row = end + 1;
    } else if (heading) {
      nodes.push({ t: 'heading', level: heading[1].length, c: inline(heading[2]) });
      row += 1;
    } else if (/^ {0,3}([-*_])([ \t]*\1){2,}[ \t]*$/.test(line)) {
      nodes.push({ t: 'rule' });
      row += 1;
    } else if (/^ {0,3}>/.test(line) && depth < DEEPEST) {
      const quoted = [];
      while (row < lines.length && /^ {0,3}>/.test(lines[row])) quoted.push(lines[row++].replace(/^ {0,3}> ?/, ''));
      nodes.push({ t: 'quote', c: blocks(quoted, depth + 1) });
    } else if (ITEM.test(line) && depth < DEEPEST) {
      row = list(lines, row, nodes, depth);
    } else if (line.includes('|') && row + 1 < lines.length && isRuler(lines[row + 1])) {
      row = table(lines, row, nodes);
    } else {
      const words = [];
      while (row < lines.length && lines[row].trim() !== '' && (words.length === 0 || !starts(lines[row]))) {
        words.push(lines[row++].trim());
      }
      const c = [];
      // Every line is one here; the backslash that asks for it is not read out.
      const bare = (text, index) => (index + 1 < words.length ? text.replace(/(?<!\\)((?:\\\\)*)\\$/, '$1') : text);
      words.forEach((text, index) => c.push(...(index > 0 ? [{ t: 'br' }] : []), ...inline(bare(text, index))));
      nodes.push({ t: 'paragraph', c });
    }
  }
  return nodes;
}

const starts = (line) => /^ {0,3}(#{1,6}[ \t]|>|`{3}|~{3})/.test(line) || ITEM.test(line);
const isRuler = (line) => /^[\s|:-]{3,2000}$/.test(line) && line.includes('-') && line.includes('|');

function list(lines, row, nodes, depth) {
  const [, indent, mark] = ITEM.exec(lines[row]);
  const ordered = /\d/.test(mark);
  const items = [];
  while (row < lines.length) {
    const item = ITEM.exec(lines[row]);
    if (item && item[1].length <= indent.length + 1) {
      if (item[1].length < indent.length || /\d/.test(item[2]) !== ordered) break;
      const task = /^\[([ xX])\][ \t]+(.*)$/.exec(item[3]);
      items.push({ lines: [task ? task[2] : item[3]], done: task ? task[1] !== ' ' : undefined });
      row += 1;
    } else if (lines[row].trim() !== '' && /^\s{2,}/.test(lines[row])) {
      items.at(-1).lines.push(lines[row].slice(Math.min(indent.length + 2, /^\s*/.exec(lines[row])[0].length)));
      row += 1;
    } else break;
  }
  const start = ordered ? Math.min(Number(mark.slice(0, -1)), 1e6) : 1;
  nodes.push({
    t: 'list',
    ordered,
    start,
    items: items.map((item) => ({ done: item.done, c: blocks(item.lines, depth + 1) })),
  });
  return row;
}

function table(lines, row, nodes) {
  const cells = (line) => line.trim().replace(/^\||\|$/g, '').split('|').slice(0, 50).map((cell) => cell.trim());
  const align = cells(lines[row + 1]).map((cell) => {
    const ends = [cell.startsWith(':'), cell.endsWith(':')];
    return ends[0] && ends[1] ? 'center' : ends[1] ? 'right' : 'left';
  });
  const rows = [cells(lines[row]).map(inline)];
  row += 2;
  while (row < lines.length && lines[row].includes('|') && lines[row].trim() !== '') rows.push(cells(lines[row++]).map(inline));
  nodes.push({ t: 'table', rows, align });
  return row;
}

const PAIRS = [['***', 'both'], ['**', 'bold'], ['__', 'bold'], ['~~', 'strike'], ['*', 'italic'], ['_', 'italic']];

/** Reads what stands in one line. */
export function inline(line, depth = 0) {
  const nodes = [];
  const hopeless = new Set();
  let pending = '';
  const add = (node) => {
    if (pending !== '') nodes.push({ t: 'text', text: pending });
    pending = '';
    if (node) nodes.push(node);
  };
  let at = 0;
  while (at < line.length) {
    const char = line[at];
    if (char === '\\' && /[!-/:-@[-`{-~]/.test(line[at + 1] ?? '')) {
      pending += line[at + 1];
      at += 2;
      continue;
    }
    const entity = char === '&' && /^&(?:(lt|gt|amp|quot)|#(\d{1,7}));/.exec(line.slice(at, at + 10));
    if (entity) {
      pending += entity[1] ? NAMED[entity[1]] : String.fromCodePoint(scalar(Number(entity[2])));
      at += entity[0].length;
      continue;
    }
    const found = depth < DEEPEST ? token(line, at, depth, hopeless) : null;
    if (found) {
      add(found.node);
      at = found.next;
    } else {
      pending += char;
      at += 1;
    }
  }
  add(null);
  return nodes;
}

function token(line, at, depth, hopeless) {
  const char = line[at];
  if (char === '`' && !hopeless.has('`')) {
    const close = line.indexOf('`', at + 1);
    if (close < 0) hopeless.add('`');
    else if (close > at + 1) return { node: { t: 'code', text: line.slice(at + 1, close) }, next: close + 1 };
  }
  if (char === '[' || (char === '!' && line[at + 1] === '[')) {
    const link = /^!?\[([^\][]{0,1000})\]\(\s{0,3}<?([^\s()<>]{1,3000}(?:\([^\s()<>]{0,500}\))?[^\s()<>]{0,500})>?(?:\s+"[^"]{0,500}")?\s{0,3}\)/.exec(line.slice(at, at + 5000));
    const url = link && safeUrl(link[2]);
    if (link) return { node: url ? { t: 'link', url, c: inline(link[1] || link[2], depth + 1) } : { t: 'text', text: link[1] || link[2] }, next: at + link[0].length };
  }
  if (char === '<' || (char === 'h' && !/\w/.test(line[at - 1] ?? ''))) {
    const bare = (char === '<' ? /^<(https?:\/\/[^\s<>]{1,3000}|mailto:[^\s<>]{1,300})>/ : /^(https?:\/\/[^\s<>]{1,3000}[^\s<>.,;:!?)\]'"*_~])/).exec(line.slice(at, at + 3300));
    const url = bare && safeUrl(bare[1]);
    if (url) return { node: { t: 'link', url, text: bare[1] }, next: at + bare[0].length };
  }
  if (char === ':') {
    const emoji = /^:([a-z0-9_+'-]{1,100}):/.exec(line.slice(at, at + 110));
    if (emoji) return { node: { t: 'emoji', name: emoji[1] }, next: at + emoji[0].length };
  }
  if (!'*_~'.includes(char)) return null;
  for (const [mark, kind] of PAIRS) {
    if (!line.startsWith(mark, at) || hopeless.has(mark)) continue;
    const first = line[at + mark.length];
    if (first === undefined || /\s/.test(first) || (char === '_' && /\w/.test(line[at - 1] ?? ''))) continue;
    let close = at + mark.length;
    for (;;) {
      close = line.indexOf(mark, close + 1);
      if (close < 0) {
        hopeless.add(mark);
        break;
      }
      const single = mark.length === 1 && (line[close + 1] === mark || line[close - 1] === mark);
      if (!/\s/.test(line[close - 1]) && !single && !(char === '_' && /\w/.test(line[close + mark.length] ?? ''))) break;
      if (single && line[close + 1] === mark) close += 1;
    }
    if (close < 0) continue;
    const c = inline(line.slice(at + mark.length, close), depth + 1);
    const node = kind === 'both' ? { t: 'bold', c: [{ t: 'italic', c }] } : { t: kind, c };
    return { node, next: close + mark.length };
  }
  return null;
}
