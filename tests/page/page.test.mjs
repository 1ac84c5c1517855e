// The page in a real browser, before a stand-in of the workspace: what a person does, and what hostile text cannot do.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { KEYS, browser } from './browser.mjs';
import { workspace } from './workspace.mjs';

const without = (process.env.GHOST_TEST_WITHOUT ?? '').split(',').includes('chromium');
const skip = without && 'GHOST_TEST_WITHOUT names chromium';
const shots = process.env.GHOST_TEST_SCREENSHOTS;
let window;
let place;

before(async () => {
  if (without) return;
  window = await browser();
});
after(async () => {
  await window?.quit();
  await place?.close();
});

/** Opens the page before a fresh workspace, as a person who was never here. */
async function fresh(options) {
  await place?.close();
  place = await workspace(options);
  await window.open(place.url);
  await window.there('article');
}

async function picture(name) {
  if (shots) writeFileSync(`${shots}/${name}.png`, Buffer.from(await window.picture(), 'base64'));
}

const told = (path) => place.done.filter(([name]) => name === path).map(([, body]) => body);
const last = (path) => told(path).at(-1);

/** Waits until the workspace was asked so often. */
async function asked(path, times = 1) {
  const end = Date.now() + 20000;
  while (told(path).length < times) {
    assert.ok(Date.now() < end, `${path} was not called ${times} times`);
    await new Promise((resolve) => { setImmediate(resolve); });
  }
  return last(path);
}

test('a person mentions the app with two letters and Enter', { skip }, async () => {
  await fresh();
  await window.type('#write', 'hello @gh');
  await window.there('.offers:not([hidden]) .offer');
  await window.type('#write', KEYS.Enter);
  await window.type('#write', `why?${KEYS.Enter}`);
  await window.says('hello @Ghost why?');
  assert.equal(last('/lab/message').text, 'hello @ghost why?');
});

test('Shift and Enter makes a line, a slash is a command', { skip }, async () => {
  await fresh();
  await window.type('#write', `one${KEYS.Shift}${KEYS.Enter}${KEYS.Shift}two`);
  assert.equal(await window.run('return document.getElementById("write").value'), 'one\ntwo');
  await window.type('#write', KEYS.Enter);
  await window.says('two');
  await window.type('#write', `/ghost status${KEYS.Enter}`);
  assert.equal((await asked('/lab/command')).text, '/ghost status');
});

test('a button that asks first does nothing on No and acts on Yes', { skip }, async () => {
  await fresh();
  await window.click('[data-action=approve]');
  await window.there('dialog[open].ask');
  await picture('confirm');
  await window.press(KEYS.Escape);
  await window.until('!document.querySelector("dialog")');
  assert.equal(last('/lab/press'), undefined);
  await window.click('[data-action=approve]');
  await window.click('dialog.ask button.primary');
  await window.says('Approved by @Ana');
  const { action_id, block_id, channel, user } = last('/lab/press');
  assert.deepEqual({ action_id, block_id, channel, user }, { action_id: 'approve', block_id: 'a', channel: 'C1', user: 'U1' });
});

test('a menu and an overflow tell their value', { skip }, async () => {
  await fresh();
  await window.run('const one = document.querySelector("[data-action=snooze]"); one.value = "60"; one.dispatchEvent(new Event("change"))');
  await window.click('[data-action=more]');
  await window.click('.popup [role=menuitem]');
  await window.until('!document.querySelector(".popup")');
  await asked('/lab/press', 2);
  assert.deepEqual(told('/lab/press').map((body) => [body.action_id, body.value]), [['snooze', '60'], ['more', 'explain']]);
});

test('a menu that asks the app is used with the keyboard alone', { skip }, async () => {
  const blocks = (type) => [{ type: 'actions', block_id: 'b', elements: [{ type, action_id: 'host', placeholder: { type: 'plain_text', text: 'Which host' } }] }];
  const web = ['web-1', 'web-2'].map((text) => ({ text: { type: 'plain_text', text }, value: text.at(-1) }));
  await fresh({ messages: [{ user: 'UB', bot_id: 'B1', ts: '1700000000.000100', text: 'x', blocks: blocks('external_select') }] });
  await window.type('[data-action=host]', 'we');
  await window.type('[data-action=host]', 'b');
  assert.deepEqual(await asked('/lab/options'), { user: 'U1', channel: 'C1', ts: '1700000000.000100', block_id: 'b', action_id: 'host', value: 'web' });
  await window.until('document.querySelectorAll(".external .offer").length === 2');
  await picture('menu');
  await window.type('[data-action=host]', KEYS.Down + KEYS.Enter);
  assert.deepEqual((await asked('/lab/press')).value, web[1]);
  assert.equal(told('/lab/options').length, 1);
  await window.until('document.querySelector(".external .offers").hidden && document.querySelector("[data-action=host]").value === "web-2"');
  await fresh({ messages: [{ user: 'UB', bot_id: 'B1', ts: '1700000000.000100', text: 'x', blocks: blocks('multi_external_select') }] });
  for (const at of [0, 1]) {
    await window.type('[data-action=host]', 'web');
    await window.until('!document.querySelector(".external .offers").hidden');
    await window.type('[data-action=host]', KEYS.Down.repeat(at) + KEYS.Enter);
    await asked('/lab/press', at + 1);
  }
  assert.deepEqual(told('/lab/press').map((body) => body.value), [[web[0]], web]);
  await window.type('[data-action=host]', KEYS.Escape);
  await window.click('.external .chip');
  assert.deepEqual((await asked('/lab/press', 3)).value, [web[1]]);
});

test('a modal shows an error under its field, keeps what was typed, and closes when it is right', { skip }, async () => {
  await fresh();
  await window.click('[data-action=modify]');
  await window.there('dialog[open].modal');
  await window.click('dialog button[type=submit]');
  await window.until('document.querySelector("[data-block=command] .wrong").textContent === "Never."');
  await picture('modal');
  assert.equal(await window.run('return document.activeElement.value'), 'rm -rf /');
  await window.run('document.querySelector("[data-block=command] input").value = "ip a"');
  await window.click('dialog input[value=later]');
  await window.click('dialog button[type=submit]');
  await window.until('!document.querySelector("dialog")');
  assert.deepEqual(last('/lab/submit').values, { command: { text: 'ip a' }, how: { one: 'later' }, who: { some: [] }, day: { date: '2026-02-03' } });
});

test('Escape closes a modal and the workspace is told', { skip }, async () => {
  await fresh();
  await window.click('[data-action=modify]');
  await window.there('dialog[open].modal');
  await window.press(KEYS.Escape);
  await window.until('!document.querySelector("dialog")');
  assert.equal((await asked('/lab/close')).view_id, 'V1');
});

test('a refusal is told in words', { skip }, async () => {
  await fresh();
  place.refuse('/lab/press', 'dispatch_failed');
  await window.run('document.querySelector("[data-action=snooze]").value = "60"; document.querySelector("[data-action=snooze]").dispatchEvent(new Event("change"))');
  await window.says('no app is connected to this workspace');
});

test('what a person typed is formatted', { skip }, async () => {
  const blocks = [{ type: 'rich_text', elements: [{ type: 'rich_text_section', elements: [{ type: 'text', text: 'loud', style: { bold: true } }] }] }];
  await fresh({ messages: [{ user: 'U1', text: '*loud*', blocks, ts: '1700000000.000100' }] });
  await window.until('[...document.querySelectorAll("article strong")].some((node) => node.textContent === "loud")');
  await window.silent('*loud*');
});

test('what only one person sees says so', { skip }, async () => {
  await fresh();
  await window.until('document.querySelector("article.ephemeral").innerText.includes("Only visible to you")');
});

test('a thread has its own field, and says what the agent does', { skip }, async () => {
  await fresh();
  await window.run('document.querySelector("article").focus()');
  await window.press(KEYS.Enter);
  await window.until('document.querySelector("#thread:not([hidden])")');
  await window.says('Ghost is measuring the path…');
  await window.type('#reply', `here${KEYS.Enter}`);
  await window.until('document.querySelector("#replies").innerText.includes("here")');
  await picture('thread');
  assert.equal(last('/lab/message').thread_ts, place.said[0].ts);
  await window.press(KEYS.Escape);
  await window.until('document.querySelector("#thread[hidden]")');
});

test('what happens is drawn without a reload', { skip }, async () => {
  await fresh();
  place.said.push({ user: 'U2', text: 'news', ts: place.ts() });
  place.tell({ kind: 'message', channel: 'C1' });
  await window.says('news');
  place.tell({ kind: 'message', channel: 'C2' });
  await window.there('[data-place=C2] .dot');
});

test('who, where and what was half written survive a reload', { skip }, async () => {
  await fresh();
  await window.run('const who = document.getElementById("who"); who.value = "U2"; who.dispatchEvent(new Event("change"))');
  await window.until('document.querySelector("[data-place=C1].now")');
  await window.click('[data-place=C2]');
  await window.until('document.querySelector("[data-place=C2].now")');
  await window.type('#write', 'half a');
  await window.reload();
  await window.until('document.querySelector("[data-place=C2].now") && document.getElementById("write").value === "half a"');
  assert.equal(await window.run('return document.getElementById("who").value'), 'U2');
});

test('a file is sent with its name and its place', { skip }, async () => {
  await fresh();
  await window.run('const all = new DataTransfer(); all.items.add(new File(["bytes"], "a.txt")); const one = document.querySelector("#below input[type=file]"); one.files = all.files; one.dispatchEvent(new Event("change"))');
  const { form } = await asked('/lab/upload');
  assert.match(form, /name="user"\r\n\r\nU1\r\n[^]*name="channel"\r\n\r\nC1\r\n[^]*filename="a.txt"[^]*bytes/);
});

test('a reaction is one press away', { skip }, async () => {
  await fresh();
  await window.run('document.querySelector("article .tools button").click()');
  await window.press(KEYS.Enter);
  const { name, channel, ts } = await asked('/lab/reaction');
  assert.deepEqual({ name, channel, ts }, { name: '+1', channel: 'C1', ts: place.said[0].ts });
});

test('the app has a Home tab, and hears that it was opened', { skip }, async () => {
  await fresh();
  await window.click('[data-place=D1]');
  await window.click('#tabs button');
  await window.says('Sessions');
  assert.equal((await asked('/lab/home')).tab, 'home');
});

test('light and dark', { skip }, async () => {
  await fresh();
  const ground = () => window.run('return getComputedStyle(document.body).backgroundColor');
  const light = await ground();
  await window.click('#theme');
  await window.until('document.documentElement.dataset.theme === "dark"');
  assert.notEqual(await ground(), light);
  await picture('dark');
  await window.click('#theme');
});

test('a workspace that goes away is told, and found again', { skip }, async () => {
  await fresh();
  const { port } = place;
  await place.close();
  await window.until('!document.getElementById("gone").hidden');
  await picture('gone');
  place = await workspace({ port });
  place.said.push({ user: 'U2', text: 'back again', ts: place.ts() });
  await window.until('document.getElementById("gone").hidden');
  await window.says('back again');
});

/** Writes out what the fixture abbreviates, shorter. */
function spelled(value, turn) {
  if (Array.isArray(value)) return value.map((one) => spelled(one, turn));
  if (!value || typeof value !== 'object') return value;
  if (value.$repeat) return value.$repeat[0].repeat(20);
  if (value.$items) return [spelled(value.$items[0], turn)];
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, typeof one === 'string' && !['type', 'style', 'status'].includes(name) ? turn(one) : spelled(one, turn)]));
}

test('hostile text in any place of any payload is text', { skip }, async () => {
  const evil = ['<img src=x onerror="window.hit=1">', '"><script>window.hit=1</script>', '<javascript:window.hit=1|x>', '[x](javascript:window.hit=1)', 'javascript:window.hit=1', '</textarea><svg onload=window.hit=1>', '&lt;img src=x onerror=window.hit=1&gt;'];
  let turn = 0;
  const next = () => evil[(turn += 1) % evil.length];
  const cases = readFileSync(new URL('../fixtures/lab/blocks.jsonl', import.meta.url), 'utf8').trim().split('\n').map((line) => JSON.parse(line));
  const payloads = cases.flatMap((one) => [(word) => word, next].map((change) => ({ kind: one.kind, payload: spelled(one.payload, change) })));
  const messages = payloads.filter((one) => one.kind !== 'view').map((one, at) => ({ user: 'U2', username: next(), text: next(), ts: `${1700000000 + at * 400}.000100`, [one.kind === 'message' ? 'blocks' : 'attachments']: one.payload }));
  await fresh({ messages });
  assert.equal(await window.run('return document.querySelectorAll("article").length'), messages.length);
  const views = payloads.filter((one) => one.kind === 'view');
  for (const [at, one] of views.entries()) {
    place.show({ state: { values: {} }, ...one.payload, id: `V${at}`, hash: String(at) });
    await window.until('document.querySelector("dialog.modal")?.open');
  }
  assert.equal(await window.run('return window.hit ?? null'), null);
  assert.equal(await window.run('return document.querySelectorAll("script").length'), 1);
  // No handler came to life, and nothing leads where a script would run.
  const armed = 'return [...document.querySelectorAll("*")].flatMap((node) => [...node.attributes]).filter((one) => one.name.startsWith("on") || (["href", "src", "action", "formaction", "srcdoc"].includes(one.name) && /^\\s*(javascript|data|vbscript):/i.test(one.value))).map((one) => `${one.name}=${one.value}`)';
  assert.deepEqual(await window.run(armed), []);
  const errors = (await window.log()).filter((line) => line.level === 'SEVERE' && !/Failed to load resource|ERR_/.test(line.message));
  assert.deepEqual(errors, []);
});

test('a phone shows one thing at a time', { skip }, async () => {
  const phone = await browser({ width: 390, height: 780, dark: true });
  try {
    await phone.open(place.url);
    await phone.there('article');
    assert.equal(await phone.run('return getComputedStyle(document.getElementById("side")).display'), 'none');
    assert.ok(await phone.run('return document.documentElement.scrollWidth <= 390'));
    await phone.run('document.querySelector("dialog")?.remove(); document.querySelector("#main .back").click()');
    await phone.until('getComputedStyle(document.getElementById("side")).display !== "none"');
    if (shots) writeFileSync(`${shots}/phone.png`, Buffer.from(await phone.picture(), 'base64'));
  } finally {
    await phone.quit();
  }
});
