// What the reader of mrkdwn makes of what people and machines write.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseMrkdwn, safeUrl } from '../../crates/lab-slack/src/page/mrkdwn.js';

const text = (words) => ({ t: 'text', text: words });

/** A tree as one line: [bold a[code b]]. */
function line(nodes) {
  return nodes.map((node) => {
    if (node.t === 'text') return node.text;
    if (node.t === 'br') return '/';
    const inside = node.c ? line(node.c) : [node.text, node.name, node.id, node.url, node.fallback].filter((one) => one).join(' ');
    return `[${node.t} ${inside}]`;
  }).join('');
}

const check = (name, source, wanted) => test(name, () => assert.equal(line(parseMrkdwn(source)), wanted));

check('plain text stays', 'hello', 'hello');
check('nothing is nothing', '', '');
check('bold, italic, strike and code', '*b* _i_ ~s~ `c`', '[bold b] [italic i] [strike s] [code c]');
check('styles nest', '*a _b ~c~_*', '[bold a [italic b [strike c]]]');
check('a word with marks inside is a word', 'snake_case_name 2*3*4 a~b~c', 'snake_case_name 2*3*4 a~b~c');
check('a mark before a blank is a mark', '* a * b', '* a * b');
check('a mark without an end is a mark', '*a _b', '*a _b');
check('a style ends with its line', '*a\nb*', '*a/b*');
check('marks in code mean nothing', '`*a* <@U1>`', '[code *a* @U1]');
check('an empty pair is two marks', '** `` __', '** `` __');
check('a fence', '```a\n*b*```', '[pre a\n*b*]');
check('text around a fence', 'x\n```a```\ny', 'x[pre a]y');
check('a fence without an end', '```a', '```a');
check('a quote', '&gt; a\n&gt; *b*\nc', '[quote a/[bold b]]c');
check('a quote of all that follows', '&gt;&gt;&gt; a\nb', '[quote a/b]');
check('a person', '<@U12AB>', '[user U12AB]');
check('a person with a name', '<@U12AB|ana>', '[user U12AB]');
check('a place', '<#C1|general>', '[channel C1]');
check('a group', '<!subteam^S1|@ops>', '[group S1]');
check('everybody', '<!here> <!channel|x> <!everyone>', '[broadcast here] [broadcast channel] [broadcast everyone]');
check('a link', '<https://a.example/x?y=1&amp;z=2>', '[link https://a.example/x?y=1&z=2 https://a.example/x?y=1&z=2]');
check('a link with words', '<https://a.example|the &lt;page&gt;>', '[link the <page> https://a.example]');
check('mail', '<mailto:a@b.example|a>', '[link a mailto:a@b.example]');
check('a date', '<!date^1392734382^{date_num}|then>', '[date then]');
check('emoji', ':wave: :wave::skin-tone-3: 10:30:45', '[emoji wave] [emoji wave] 10[emoji 30]45');
check('entities', '&lt;b&gt; &amp;amp; &quot;', '<b> &amp; &quot;');

for (const url of [
  'javascript:alert(1)', 'JaVaScRiPt:alert(1)', 'java\u0000script:alert(1)', ' javascript:alert(1)', 'data:text/html,x', 'vbscript:x',
  'file:///etc/passwd', 'https:', 'http:///x', '//evil.example', 'java\nscript:alert(1)', 'https://a.example/\u0009x', 'blob:https://a', null, 7, {},
]) {
  test(`an address that is none: ${JSON.stringify(url)}`, () => assert.equal(safeUrl(url), null));
}

test('what looks like a link but is none is text', () => {
  for (const source of ['<javascript:alert(1)|click>', '<data:text/html,<script>|x>', '<img src=x onerror=alert(1)>', '<script>alert(1)</script>']) {
    const kinds = new Set(JSON.stringify(parseMrkdwn(source)).match(/"t":"[a-z]+"/g));
    assert.deepEqual([...kinds], ['"t":"text"'], source);
  }
});

test('markup that was escaped is text again, and stays text', () => {
  assert.deepEqual(parseMrkdwn('&lt;img src=x&gt; *&lt;b&gt;*'), [text('<img src=x> '), { t: 'bold', c: [text('<b>')] }]);
});

// A quadratic reader needs minutes here and is cut off.
test('hostile lengths are read in linear time', { timeout: 60000 }, () => {
  const most = 40000;
  for (const piece of ['*a ', '*', '_a_ ', '`', '``` ', '<', '<<', '<@', '> ', '&gt;', ':a', '~*_`', '<https://', '\n&gt;', '*_~', '&lt;']) {
    assert.ok(Array.isArray(parseMrkdwn(piece.repeat(most / piece.length))), piece);
  }
});

test('any value is read', () => {
  for (const value of [undefined, null, 0, {}, [], '\u0000', '\ud800', '*'.repeat(200000)]) assert.ok(Array.isArray(parseMrkdwn(value)));
});

test('random text becomes known nodes with safe addresses', () => {
  let seed = 7;
  const next = (limit) => { seed = (seed * 1103515245 + 12345) % 2147483648; return seed % limit; };
  const signs = ['*', '_', '~', '`', '```', '<', '>', '|', '@U1', '#C1', '!', ':', '&amp;', '\n', ' ', 'a', 'b', '^', 'https://x.y', 'javascript:'];
  const kinds = new Set(['text', 'bold', 'italic', 'strike', 'code', 'pre', 'quote', 'link', 'user', 'channel', 'group', 'broadcast', 'date', 'emoji', 'br']);
  const look = (nodes, source) => nodes.forEach((node) => {
    assert.ok(kinds.has(node.t), source);
    if (node.url) assert.match(node.url, /^https:/, source);
    if (node.c) look(node.c, source);
  });
  for (let round = 0; round < 3000; round += 1) {
    const source = Array.from({ length: next(30) }, () => signs[next(signs.length)]).join('');
    look(parseMrkdwn(source), source);
  }
});
