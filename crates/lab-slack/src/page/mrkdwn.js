// Reads Slack's mrkdwn into a tree. Pure: no DOM, so that Node can test it. Linear in the length of the text.
//
// A node is { t: kind, … }: text, bold, italic, strike, code, pre, quote, link, user, channel, group, broadcast, date,
// emoji, br. Whoever draws the tree uses text nodes only; no text becomes markup.

const MARKS = { '*': 'bold', _: 'italic', '~': 'strike' };
const LONGEST = 100000;

/** Undoes the three escapes that Slack's texts have. */
export function unescapeText(text) {
  return text.replace(/&(lt|gt|amp);/g, (_, name) => ({ lt: '<', gt: '>', amp: '&' })[name]);
}

/** Returns the address if a click may follow it, else nothing. */
export function safeUrl(url) {
  if (typeof url !== 'string' || url.length > 8000) return null;
  const clean = url.trim();
  // A control character or a blank inside could hide the scheme from this look but not from a browser.
  if (/[\u0000-\u0020\u007f]/.test(clean)) return null;
  return /^(https?:\/\/|mailto:|tel:)[^/]/i.test(clean) ? clean : null;
}

/** Reads a whole text: code fences and quotes first, then what stands in a line. */
export function parseMrkdwn(source) {
  const text = String(source ?? '').slice(0, LONGEST);
  const nodes = [];
  let at = 0;
  while (at < text.length) {
    const open = text.indexOf('```', at);
    const close = open < 0 ? -1 : text.indexOf('```', open + 3);
    if (close < 0 || close === open + 3) {
      quotes(text.slice(at), nodes);
      break;
    }
    quotes(text.slice(at, open).replace(/\n$/, ''), nodes);
    nodes.push({ t: 'pre', text: plain(text.slice(open + 3, close).replace(/^\n|\n$/g, '')) });
    at = close + 3;
    if (text[at] === '\n') at += 1;
  }
  return nodes;
}

/** In code, a link is shown as what it says, and nothing else means anything. */
function plain(text) {
  return unescapeText(text.replace(/<(?:[^<>|\n]{1,3000}\|)?([^<>\n]{1,3000})>/g, '$1'));
}

function quotes(text, nodes) {
  if (text === '') return;
  const lines = text.split('\n');
  let row = 0;
  while (row < lines.length) {
    const quoted = [];
    if (/^(&gt;|>){3}/.test(lines[row])) {
      // Three marks quote everything that follows.
      quoted.push(lines[row].replace(/^(&gt;|>){3} ?/, ''), ...lines.slice(row + 1));
      row = lines.length;
    } else {
      while (row < lines.length && /^(&gt;|>)/.test(lines[row])) {
        quoted.push(lines[row].replace(/^(&gt;|>) ?/, ''));
        row += 1;
      }
    }
    if (quoted.length > 0) {
      const inside = [];
      quoted.forEach((line, index) => {
        if (index > 0) inside.push({ t: 'br' });
        inside.push(...parseLine(line));
      });
      nodes.push({ t: 'quote', c: inside });
      continue;
    }
    nodes.push(...parseLine(lines[row]));
    row += 1;
    if (row < lines.length && !/^(&gt;|>)/.test(lines[row])) nodes.push({ t: 'br' });
  }
}

/** Reads what stands in one line. */
export function parseLine(line, inside = '') {
  const nodes = [];
  const hopeless = new Set();
  let pending = '';
  const flush = () => {
    if (pending !== '') nodes.push({ t: 'text', text: unescapeText(pending) });
    pending = '';
  };
  let at = 0;
  while (at < line.length) {
    const char = line[at];
    let node = null;
    let next = at;
    if (char === '<') [node, next] = angle(line, at);
    else if (char === '`' && !hopeless.has(char)) [node, next] = code(line, at, hopeless);
    else if (char in MARKS && !inside.includes(char) && !hopeless.has(char)) {
      [node, next] = marked(line, at, inside, hopeless);
    } else if (char === ':') [node, next] = emoji(line, at);
    if (node) {
      flush();
      nodes.push(node);
      at = next;
    } else {
      pending += char;
      at += 1;
    }
  }
  flush();
  return nodes;
}

function code(line, at, hopeless) {
  const close = line.indexOf('`', at + 1);
  if (close < 0) {
    hopeless.add('`');
    return [null, at];
  }
  if (close === at + 1) return [null, at];
  return [{ t: 'code', text: plain(line.slice(at + 1, close)) }, close + 1];
}

const isWord = (char) => char !== undefined && /[\p{L}\p{N}]/u.test(char);

function marked(line, at, inside, hopeless) {
  const mark = line[at];
  const first = line[at + 1];
  if (isWord(line[at - 1]) || first === undefined || first === ' ' || first === mark) return [null, at];
  let close = at + 1;
  for (;;) {
    close = line.indexOf(mark, close + 1);
    if (close < 0) {
      // Whatever would end a later one would have ended this one.
      hopeless.add(mark);
      return [null, at];
    }
    if (line[close - 1] !== ' ' && !isWord(line[close + 1])) break;
  }
  return [{ t: MARKS[mark], c: parseLine(line.slice(at + 1, close), inside + mark) }, close + 1];
}

function emoji(line, at) {
  const found = /^:([a-z0-9_+'-]{1,100}):(?::skin-tone-[2-6]:)?/.exec(line.slice(at, at + 130));
  return found ? [{ t: 'emoji', name: found[1] }, at + found[0].length] : [null, at];
}

function angle(line, at) {
  // What is longer is no link; the bound keeps many open brackets from being searched over and over.
  const end = line.slice(at, at + 3500).indexOf('>');
  if (end < 2) return [null, at];
  const whole = line.slice(at + 1, at + end);
  const next = at + end + 1;
  const bar = whole.indexOf('|');
  const target = unescapeText(bar < 0 ? whole : whole.slice(0, bar));
  const label = bar < 0 ? null : unescapeText(whole.slice(bar + 1));
  if (whole.includes('<')) return [null, at];
  if (/^@[UWB][A-Z0-9]{1,30}$/.test(target)) return [{ t: 'user', id: target.slice(1), label }, next];
  if (/^#[CGD][A-Z0-9]{1,30}$/.test(target)) return [{ t: 'channel', id: target.slice(1), label }, next];
  if (target.startsWith('!')) return [command(target.slice(1), label), next];
  const url = safeUrl(target);
  if (url) return [{ t: 'link', url, text: label || target }, next];
  return [{ t: 'text', text: label || `<${target}>` }, next];
}

function command(target, label) {
  if (/^(here|channel|everyone)$/.test(target)) return { t: 'broadcast', name: target };
  const group = /^subteam\^(S[A-Z0-9]{1,30})$/.exec(target);
  if (group) return { t: 'group', id: group[1], label };
  const date = /^date\^(\d{1,12})\^([^^]{1,500})(?:\^(.{1,3000}))?$/.exec(target);
  if (date) {
    return { t: 'date', ts: Number(date[1]), format: date[2], url: safeUrl(date[3]), fallback: label ?? '' };
  }
  return { t: 'text', text: label ?? `<${target}>` };
}
