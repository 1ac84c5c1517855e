// What the reader of Markdown makes of an agent's answer, and the forms of dates.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatDate } from '../../crates/lab-slack/src/page/date.js';
import { parseMarkdown } from '../../crates/lab-slack/src/page/markdown.js';

const shape = (nodes) => nodes.map((node) => {
  if (node.t === 'text') return node.text;
  if (node.t === 'br') return '/';
  if (node.t === 'list') return `[${node.ordered ? 'ol' : 'ul'} ${node.items.map((item) => `(${item.done === undefined ? '' : item.done ? 'x ' : '- '}${shape(item.c)})`).join('')}]`;
  if (node.t === 'table') return `[table ${node.rows.map((row) => row.map(shape).join('|')).join('/')} ${node.align}]`;
  return `[${node.t}${node.c ? ` ${shape(node.c)}` : ''}${node.text ? ` ${node.text}` : ''}${node.url ? ` ${node.url}` : ''}${node.name ? ` ${node.name}` : ''}]`;
}).join('');

const check = (name, source, wanted) => test(name, () => assert.equal(shape(parseMarkdown(source)), wanted));

check('styles', '**b** __b__ *i* _i_ ~~s~~ `c`', '[paragraph [bold b] [bold b] [italic i] [italic i] [strike s] [code c]]');
check('bold and italic', '***x*** **a _b_ c**', '[paragraph [bold [italic x]] [bold a [italic b] c]]');
check('a heading', '# One\n### Three ###', '[heading One][heading Three]');
check('a rule', 'a\n\n---\n\nb', '[paragraph a][rule][paragraph b]');
check('a list', '- a\n- b\n  - c\n- d', '[ul ([paragraph a])([paragraph b][ul ([paragraph c])])([paragraph d])]');
check('a numbered list', '3. a\n4. b', '[ol ([paragraph a])([paragraph b])]');
check('tasks', '- [ ] a\n- [x] b', '[ul (- [paragraph a])(x [paragraph b])]');
check('a table', '| A | B |\n|---|--:|\n| *1* | 2 |', '[table A|B/[italic 1]|2 left,right]');
check('a fence', '```sh\n# no heading\n**x**\n```\nafter', '[pre # no heading\n**x**][paragraph after]');
check('a fence without an end', '```\nx', '[pre x]');
check('a quote', '> a\n> - b', '[quote [paragraph a][ul ([paragraph b])]]');
check('a link', '[a *b*](https://x.example/(1))', '[paragraph [link a [italic b] https://x.example/(1)]]');
check('an image becomes a link', '![logo](https://x.example/l.png)', '[paragraph [link logo https://x.example/l.png]]');
check('a bare address', 'see https://x.example/a_b_c.', '[paragraph see [link https://x.example/a_b_c https://x.example/a_b_c].]');
check('escapes', '\\*a\\* \\# 1\\.', '[paragraph *a* # 1.]');
check('a break is asked for with a backslash', 'a\\\nb\\\\\nc\\', '[paragraph a/b\\/c\\]');
check('entities', 'a &lt;b&gt; &amp;amp; &#64;x &#0; `&lt;`', '[paragraph a <b> &amp; @x \ufffd [code &lt;]]');
check('a dangerous link is its words', '[x](javascript:alert(1)) <javascript:alert(1)>', '[paragraph x <javascript:alert(1)>]');
check('markup is text', '<img src=x onerror=alert(1)>', '[paragraph <img src=x onerror=alert(1)>]');
check('names with low lines', 'a_b_c and __init__', '[paragraph a_b_c and [bold init]]');

// A quadratic reader needs minutes here and is cut off.
test('hostile lengths are read in linear time', { timeout: 60000 }, () => {
  for (const piece of ['*', '**a ', '[', '[a](', '![', '> ', '- ', '  - a\n', '|', '|-', '`', '_a', '#', '<h', '1. ', '\n>', '***', 'https://', '| a |\n|--|\n']) {
    assert.ok(Array.isArray(parseMarkdown(piece.repeat(40000 / piece.length))), piece);
  }
});

test('a deep nest is no deep recursion', () => {
  for (const piece of ['> ', '- ', '  ']) parseMarkdown(Array.from({ length: 300 }, (_, at) => `${piece.repeat(at)}- x`).join('\n'));
  parseMarkdown('['.repeat(12000) + ']'.repeat(12000));
});

test('dates', () => {
  const at = Date.UTC(2014, 1, 18, 14, 39, 42) / 1000;
  const now = new Date((at + 3 * 86400) * 1000);
  assert.match(formatDate(at, 'on {date_num} at {time}', '', now), /^on 2014-02-1[789] at \d+:39\s[AP]M$/);
  assert.equal(formatDate(at, '{nothing}', '', now), '{nothing}');
  assert.equal(formatDate(Number.NaN, '{date}', 'then', now), 'then');
  assert.match(formatDate(at, '{date_pretty}', '', new Date(at * 1000)), /^today$/);
  assert.equal(formatDate(at, '{ago}', '', now), '3 days ago');
});
