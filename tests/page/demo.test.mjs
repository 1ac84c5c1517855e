// `ghost demo` as a newcomer meets it: one page, one message, a few decisions, one report; then another case, and a fault more.
//
// GHOST_TEST_BINARY names the program; without it, the one that a plain build makes. GHOST_TEST_SCREENSHOTS keeps pictures of
// everything, GHOST_TEST_PICTURES=demo/pictures makes those that the README opens with.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { KEYS, browser } from './browser.mjs';

const without = (process.env.GHOST_TEST_WITHOUT ?? '').split(',').includes('chromium');
const skip = without && 'GHOST_TEST_WITHOUT names chromium';
const shots = process.env.GHOST_TEST_SCREENSHOTS;
const pictures = process.env.GHOST_TEST_PICTURES;
const program = process.env.GHOST_TEST_BINARY ?? 'target/debug/ghost';
// A whole investigation may take longer than a click.
const LONG = 120000;
let home;
let demo;
let said;
let window;

before(async () => {
  if (without) return;
  home = mkdtempSync(join(tmpdir(), 'ghost-demo-'));
  demo = spawn(program, ['demo'], { stdio: ['ignore', 'pipe', 'inherit'], env: { HOME: home, PATH: process.env.PATH } });
  said = [];
  for await (const line of createInterface({ input: demo.stdout })) {
    said.push(line);
    if (line.includes('Ctrl-C')) break;
  }
  window = await browser({ width: 1280, height: 900 });
});
after(async () => {
  await window?.quit();
  if (demo?.exitCode === null && demo.kill()) await once(demo, 'exit');
  if (home) rmSync(home, { recursive: true, force: true });
});

async function picture(name, of = window) {
  if (shots) writeFileSync(`${shots}/demo-${name}.png`, Buffer.from(await of.picture(), 'base64'));
}

/** Keeps a picture for the README. */
async function keep(name, clip) {
  if (!pictures) return;
  mkdirSync(pictures, { recursive: true });
  const bytes = Buffer.from(await window.picture(clip), 'base64');
  assert.ok(bytes.length < 200000, `${name} has ${bytes.length} bytes`);
  writeFileSync(join(pictures, `${name}.png`), bytes);
}

/** Becomes somebody else. */
async function become(name, of = window) {
  await of.until('[...document.querySelectorAll("#who option")].some((one) => one.textContent.startsWith(arguments[0]))', name);
  await of.run('const who = document.getElementById("who"); who.value = [...who.options].find((one) => one.textContent.startsWith(arguments[0])).value; who.dispatchEvent(new Event("change"))', name);
  await of.until('document.querySelector("#places .now")');
}

const thread = (text) => `document.querySelector("#replies")?.innerText.includes(${JSON.stringify(text)})`;
const asks = 'document.querySelector("#replies [data-action=approve]")';

/** Presses a button of the newest card in the open thread. */
async function press(action) {
  await window.there(`#replies [data-action=${action}]`);
  await window.run('document.querySelector(arguments[0]).scrollIntoView({ block: "center" })', `#replies [data-action=${action}]`);
  await window.click(`#replies [data-action=${action}]`);
}

/** Waits for a card and for the board that says so: it comes behind the card, and its buttons move once more. */
const waits = () => window.patient(LONG, `${asks} && ${thread('waiting for an approval')}`);

/** Approves whatever is asked, until the report is there. Returns how often it was asked. */
async function approved() {
  for (let count = 0; ; count += 1) {
    await window.patient(LONG, `${asks} || ${thread('The whole report')}`);
    if (!(await window.run(`return Boolean(${asks})`))) return count;
    // The page may draw itself anew between two looks.
    const cards = await window.run('return document.querySelector("#replies [data-action=approve]")?.closest("article").dataset.ts ?? null');
    if (cards === null) {
      count -= 1;
      continue;
    }
    await press('approve');
    await window.until('!document.querySelector(`article[data-ts="${arguments[0]}"] [data-action=approve]`) || document.querySelector("dialog.ask")', cards);
    if (await window.run('return Boolean(document.querySelector("dialog.ask"))')) await window.click('dialog.ask button.primary, dialog.ask button.danger');
    await window.until('!document.querySelector(`article[data-ts="${arguments[0]}"] [data-action=approve]`)', cards);
  }
}

/** Opens the dialog of cases and faults. */
async function play() {
  await window.click('#play');
  await window.there('dialog.play[open] [data-case=j]');
}

/** Orders something as a script would; returns the answer. */
const order = (body, of = said[0]) => fetch(`${of}lab/play`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }).then((answer) => answer.json());
const look = async () => (await (await fetch(`${said[0]}lab/play`)).json()).play;
const me = () => window.run('return document.getElementById("who").value');

test('the address comes first, then what to write', { skip }, async () => {
  assert.match(said[0], /^http:\/\/127\.0\.0\.1:\d+\/$/);
  assert.match(said[1], /@ghost iperf from tf-source-vm/);
});

test('a case that is not there is refused with those that are', { skip }, async () => {
  const wrong = spawn(program, ['demo', '--case', 'zz'], { stdio: ['ignore', 'ignore', 'pipe'], env: { HOME: home, PATH: process.env.PATH } });
  let text = '';
  wrong.stderr.on('data', (piece) => { text += piece; });
  const [code] = await once(wrong, 'close');
  assert.equal(code, 2);
  assert.match(text, /there is a, b, c/);
});

test('the page offers the first message, and the thread of a mention opens by itself', { skip }, async () => {
  await window.open(said[0]);
  await become('alice');
  await window.says('A message to begin with');
  await window.says('Three minutes, step 1 of 5');
  await picture('empty');
  await window.click('[data-tour=do]');
  await window.until('!document.getElementById("thread").hidden && document.querySelector("#replies article")');
  await window.says('step 2 of 5');
  // What to do with a card stands there while the card is: the step before it only brings it.
  await window.click('[data-tour=next]');
  await window.click('[data-tour=next]');
  await window.says('step 4 of 5: Decide.');
  await window.click('[data-tour=close]');
  await window.until('document.getElementById("tour").hidden');
  // The board says it while it is checked, the answer when it was: whoever is quick never shows the first.
  await window.until(thread('ecurity rules'));
});

/** What no person says, and what is not for people: ids, JSON, digests, words of the program. */
const UNSPOKEN = [/\bo\d+\b/, /\bs\d+ of session/, /\bH-[a-z]+/, /\{"/, /\b[0-9a-f]{20,}\b/, /U0LAB/, /auto_approved/, /ghost-ghost-/, /by code, in what was recorded/, /\bturns\b/, /undefined|NaN|\[object/];

/** Holds that everything in the open thread, or what came after so many messages, is written for people. */
async function speaks(after = 1) {
  const words = await window.run('return [...document.querySelectorAll("#replies article")].slice(arguments[0]).map((one) => one.innerText).join("\\n")', after);
  for (const pattern of UNSPOKEN) assert.doesNotMatch(words, pattern);
}

test('the report names both faults, and no card asks any more', { skip }, async () => {
  await approved();
  for (const part of ['Root cause', 'tf-dest-vm drops tcp/5001: iptables INPUT rule 1', 'delays packets on eth0 by 30 ms', 'The audit trail']) await window.until(thread(part));
  assert.equal(await window.run('return document.querySelectorAll("#replies [data-action=approve], #replies [data-action=deny], #replies [data-action=modify]").length'), 0, 'no card asks any more');
  await window.run('document.querySelector("#replies").scrollTop = 0');
  await picture('board');
  await window.run('document.querySelector("#replies").scrollTop = 1e9');
  await picture('end');
  await window.run('[...document.querySelectorAll("#replies article")].slice(2).find((one) => one.innerText.includes("Root cause")).scrollIntoView({ block: "start" })');
  await picture('report');
  await keep('thread', await box('#thread'));
  const { last } = await look();
  assert.deepEqual([last.missed, last.wrong, last.found.length], [[], [], 2]);
  await speaks();
});

test('questions about the answer are answered from what was recorded, and what was said is seen', { skip }, async () => {
  for (const [question, part] of [['why not the NSG?', 'checked and clear'], ['how do I fix it?', 'iptables -D INPUT'], ['how old is the moon?', 'nothing recorded that answers this']]) {
    await window.type('#reply', `@ghost ${question}${KEYS.Enter}`);
    await window.until(thread(part));
    await speaks();
    // One sees what one wrote, once the page has drawn it.
    await window.until('((list) => list.scrollHeight - list.scrollTop - list.clientHeight < 200)(document.querySelector("#replies"))');
  }
});

test('each button of the answer answers whoever presses it', { skip }, async () => {
  const there = await window.run('return [...new Set([...document.querySelectorAll("#replies article [data-action]")].map((one) => one.dataset.action))].sort()');
  // The question about the moon left the offer of a look.
  assert.deepEqual(there, ['audit', 'evidence', 'feedback', 'look', 'postmortem', 'recheck', 'steps']);
  const count = () => window.run('return document.querySelectorAll("#replies article").length');
  for (const [action, part] of [['steps', 'iptables -D INPUT'], ['evidence', 'tf-dest-vm'], ['audit', 'audit'], ['feedback', 'thank you'], ['postmortem', 'ost-mortem'], ['recheck', 'till']]) {
    const before = await count();
    await press(action);
    await window.patient(LONG, 'document.querySelectorAll("#replies article").length > arguments[0] && [...document.querySelectorAll("#replies article")].slice(arguments[0]).some((one) => one.innerText.includes(arguments[1]))', before, part);
    // Evidence has the numbers by which the report cites it, and the audit is what the program writes.
    if (!['evidence', 'audit'].includes(action)) await speaks(before);
  }
  await window.patient(LONG, '!document.querySelector("#replies [data-action=stop]") && !document.querySelector("#replies [data-action=approve]")');
});

/** Returns where something is, with a margin around it. */
const box = (css, margin = 0) => window.run('const [box, more] = [document.querySelector(arguments[0]).getBoundingClientRect(), arguments[1]]; return { x: box.x - more, y: box.y - more, width: box.width + 2 * more, height: box.height + 2 * more }', css, margin);

test('another case is one click, and clicking twice opens one thread', { skip }, async () => {
  await play();
  assert.equal(await window.run('return document.querySelectorAll("[data-case]").length'), 28);
  await picture('cases');
  await window.run('const one = document.querySelector("[data-case=s]"); one.click(); one.click();');
  await window.until('!document.querySelector("dialog.play")');
  await window.until(thread('tf-source-vm cannot reach tf-dest-vm'));
  await approved();
  await window.until(thread('has no next hop'));
  assert.equal(await window.run('return [...document.querySelectorAll("#list article")].filter((one) => one.innerText.includes("tf-source-vm cannot reach tf-dest-vm")).length'), 1);
});

test('a fault more is found, too', { skip }, async () => {
  await play();
  await window.click('[data-play=reset]');
  await window.says('nothing is wrong in it');
  await window.click('[data-fault=iptables]');
  await window.says('Now say what you see');
  await picture('fault');
  await window.click('[data-play=say]');
  await window.until('!document.querySelector("dialog.play") && document.getElementById("write").value.includes("8080")');
  await window.press(KEYS.Enter);
  await window.until('[...document.querySelectorAll("#list article")].at(-1)?.innerText.includes("8080") && [...document.querySelectorAll("#list article")].at(-1).querySelector(".replies")');
  await window.run('[...document.querySelectorAll("#list article .replies")].at(-1).click()');
  await window.until('document.querySelector("#replies article")?.innerText.includes("8080")');
  await approved();
  await window.until(thread('drops tcp/8080: iptables'));
  await play();
  await window.says('names 1 of 1 fault, and nothing that is not there');
  await picture('found');
  await window.press(KEYS.Escape);
});

/** Picks a case, and waits for its thread. */
async function pick(name, words) {
  await play();
  await window.click(`[data-case=${name}]`);
  await window.until('!document.querySelector("dialog.play")');
  await window.until(thread(words));
}

test('packets are recorded where somebody approves it, and the report stands on them', { skip }, async () => {
  await pick('w', 'larger ones hang');
  await window.patient(LONG, asks);
  await window.until(thread('packet-capture create'));
  await window.run('document.querySelector("#replies [data-action=approve]").closest("article").scrollIntoView({ block: "center" })');
  await picture('card');
  await speaks();
  await keep('card', await box('#replies article:has([data-action=approve]) .content', 6));
  assert.ok((await approved()) > 0, 'it was asked for the capture');
  await window.until(thread('Packets over 1500 bytes from tf-source-vm to tf-dest-vm do not arrive'));
  for (const part of ['never reach tf-dest-vm', 'Both recordings compared', 'Packets at tf-source-vm', 'ahead of your clock']) await window.until('document.getElementById("thread").innerText.includes(arguments[0])', part);
  await speaks();
  const { last } = await look();
  assert.deepEqual([last.missed, last.wrong], [[], []]);
  const data = join(home, '.local/state/ghost/demo');
  const folder = join(data, readdirSync(data)[0], 'captures');
  const plot = readdirSync(folder).find((name) => name.endsWith('_flow.png'));
  assert.ok(plot, 'the capture was drawn');
  // The answer does not wait for the question whether the recordings go.
  await window.patient(LONG, asks);
  assert.equal(await approved(), 1, 'it was asked to remove the recordings');
  if (pictures) copyFileSync(join(folder, plot), join(pictures, 'capture.png'));
});

/** Holds that the cloud stays as it is, whoever clicks: a card waits, so an investigation is under way until somebody decides. */
async function stays() {
  const user = await me();
  for (const body of [{ order: 'case', case: 'k' }, { order: 'fault', fault: 'nsg' }, { order: 'reset' }]) {
    const answer = await order({ user, ...body });
    assert.equal(answer.ok, false);
    assert.match(answer.why, /is running/);
  }
  assert.match((await order({ user, order: 'nonsense' })).why, /cannot be read/);
  assert.equal((await order({ order: 'reset' })).error, 'not_in_channel');
  const foreign = await fetch(`${said[0]}lab/play`, { method: 'POST', headers: { 'content-type': 'application/json', origin: 'http://evil.example' }, body: '{}' });
  assert.equal(foreign.status, 403);
  const plain = await fetch(`${said[0]}lab/play`, { method: 'POST', headers: { 'content-type': 'text/plain' }, body: JSON.stringify({ user, order: 'reset' }) });
  assert.equal((await plain.json()).error, 'invalid_post_type');
  await play();
  await window.says('An investigation is under way');
  await picture('under-way');
  await window.press(KEYS.Escape);
}

test('a capture that is denied is not begun, and the reason stands in the thread', { skip }, async () => {
  await pick('b', 'fail at once');
  await window.patient(LONG, asks);
  await stays();
  await press('modify');
  await window.there('dialog[open].modal');
  await picture('modify');
  await window.press(KEYS.Escape);
  await window.until('!document.querySelector("dialog")');
  await press('deny');
  await window.there('dialog[open].modal');
  await window.type('dialog textarea, dialog input[type=text]', 'not during business hours');
  await picture('deny');
  await window.click('dialog button[type=submit]');
  await window.until(thread('not during business hours'));
  await approved();
  assert.ok(!(await window.run('return document.querySelector("#replies").innerText')).includes('Approved by'));
});

test('what is under way can be stopped where cases are picked', { skip }, async () => {
  // A card waits: the investigation is under way until somebody decides.
  await pick('c', 'Capture on both at the same time');
  await window.patient(LONG, asks);
  await play();
  await window.click('[data-play=stop]');
  await window.says('It ends with what it knows');
  await window.press(KEYS.Escape);
  // The card goes by itself: nobody decides it.
  await window.patient(LONG, `!${asks} && ${thread('The whole report')}`);
  assert.equal((await look()).under_way, false);
});

test('the buttons of the board do what they say while a card waits', { skip }, async () => {
  await pick('c', 'Capture on both at the same time');
  await waits();
  const before = await window.run('return document.querySelectorAll("#replies article").length');
  await press('audit');
  await window.until('[...document.querySelectorAll("#replies article")].slice(arguments[0]).some((one) => one.innerText.includes("Only visible to you"))', before);
  await press('report');
  await window.patient(LONG, `!${asks} && ${thread('The whole report')}`);
  await pick('c', 'Capture on both at the same time');
  await waits();
  await press('stop');
  await window.there('dialog.ask');
  await window.says('Stop the investigation?');
  await window.click('dialog.ask button.danger');
  await window.patient(LONG, `!${asks} && ${thread('The whole report')}`);
});

test('who may freeze does so from the Home tab, and ends it there', { skip }, async () => {
  await window.run('[...document.querySelectorAll("#places *")].find((one) => one.children.length === 0 && one.textContent.trim() === "Ghost").closest("button, a, li").click()');
  await window.until('!document.querySelector("#tabs").hidden');
  await window.run('[...document.querySelectorAll("#tabs button")].find((one) => one.textContent === "Home").click()');
  await window.there('#home [data-action=freeze]');
  await window.click('#home [data-action=freeze]');
  await window.there('dialog.ask');
  await window.says('Freeze everything?');
  await picture('freeze');
  await window.click('dialog.ask button.danger');
  await window.there('#home [data-action=thaw]');
  await window.click('#home [data-action=thaw]');
  await window.there('#home [data-action=freeze]');
});

test('it reads as well in the dark and on a phone', { skip }, async () => {
  const small = await browser({ width: 390, height: 844, dark: true });
  try {
    await small.open(said[0]);
    await become('alice', small);
    await small.run('document.querySelector("#places .now").click()');
    await small.click('.replies');
    await small.until('document.querySelector("#replies")?.innerText.includes("Root cause")');
    await picture('phone-end', small);
    await small.run('document.querySelector("#replies").scrollTop = 0');
    await picture('phone', small);
    await small.run('document.querySelector("#thread .back").click()');
    await small.click('#play');
    await small.there('dialog.play[open] [data-case=j]');
    await picture('phone-cases', small);
    assert.ok(await small.run('return document.documentElement.scrollWidth <= 390'), 'nothing is wider than the screen');
    assert.deepEqual((await small.log()).filter((line) => line.level === 'SEVERE'), []);
  } finally {
    await small.quit();
  }
  assert.deepEqual((await window.log()).filter((line) => line.level === 'SEVERE'), []);
});

test('Ctrl-C ends it within ten seconds, and nothing stays behind', { skip }, async () => {
  const began = Date.now();
  demo.kill('SIGINT');
  const [code] = await once(demo, 'exit');
  assert.equal(code, 0);
  assert.ok(Date.now() - began < 10000);
  const left = join(home, '.local/state/ghost/demo');
  assert.deepEqual(existsSync(left) ? readdirSync(left) : [], []);
});
