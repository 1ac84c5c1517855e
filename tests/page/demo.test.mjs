// `ghost demo` as a newcomer meets it: one page, one message, three decisions, one report.
//
// GHOST_TEST_BINARY names the program; without it, the one that a plain build makes.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { KEYS, browser } from './browser.mjs';

const without = (process.env.GHOST_TEST_WITHOUT ?? '').split(',').includes('chromium');
const skip = without && 'GHOST_TEST_WITHOUT names chromium';
const shots = process.env.GHOST_TEST_SCREENSHOTS;
let home;
let demo;
let said;
let window;

before(async () => {
  if (without) return;
  home = mkdtempSync(join(tmpdir(), 'ghost-demo-'));
  demo = spawn(process.env.GHOST_TEST_BINARY ?? 'target/debug/ghost', ['demo'], { stdio: ['ignore', 'pipe', 'inherit'], env: { HOME: home, PATH: process.env.PATH } });
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

/** Becomes somebody else. */
async function become(name, of = window) {
  await of.until('[...document.querySelectorAll("#who option")].some((one) => one.textContent.startsWith(arguments[0]))', name);
  await of.run('const who = document.getElementById("who"); who.value = [...who.options].find((one) => one.textContent.startsWith(arguments[0])).value; who.dispatchEvent(new Event("change"))', name);
  await of.until('document.querySelector("#places .now")');
}

/** Presses a button of the newest card in the open thread. */
const press = async (action) => {
  await window.there(`#replies [data-action=${action}]`);
  await window.run('document.querySelector(arguments[0]).scrollIntoView({ block: "center" })', `#replies [data-action=${action}]`);
  await window.click(`#replies [data-action=${action}]`);
};

test('the address comes first, then what to write', { skip }, async () => {
  assert.match(said[0], /^http:\/\/127\.0\.0\.1:\d+\/$/);
  assert.match(said[1], /@ghost iperf from tf-source-vm/);
});

test('the page offers the first message, and a mention opens a session', { skip }, async () => {
  await window.open(said[0]);
  await become('alice');
  await window.says('A message to begin with');
  await picture('empty');
  await window.click('#list .empty button');
  await window.press(KEYS.Enter);
  await window.click('.replies');
  await window.until('document.querySelector("#replies").innerText.includes("H4")');
});

test('a command is modified in a modal, judged again, and approved', { skip }, async () => {
  await become('bob');
  await window.until('document.querySelector(".replies")');
  await window.click('.replies');
  await window.until('document.querySelector("#replies").innerText.includes("Approval needed")');
  await window.says('iperf -c 10.0.1.5 -p 5001 -t 5');
  await picture('card');
  await press('modify');
  await window.there('dialog[open].modal');
  await picture('modify');
  await window.run('const line = document.querySelector("dialog textarea, dialog input[type=text]"); line.value = line.value.replace("-t 5", "-t 2"); line.dispatchEvent(new Event("input"))');
  await window.click('dialog button[type=submit]');
  await window.until('!document.querySelector("dialog")');
  await window.until('document.querySelector("#replies").innerText.includes("Changed by")');
  await window.until('[...document.querySelectorAll("#replies pre")].some((one) => one.textContent.includes("-t 2"))');
  await press('approve');
  await confirm();
  await window.until('document.querySelector("#replies").innerText.includes("Approved by")');
});

/** Answers the question that a destructive verb asks first. */
async function confirm() {
  await window.until('document.querySelector("dialog.ask") || !document.querySelector("#replies [data-action=approve]:not([disabled])") || true');
  if (await window.run('return Boolean(document.querySelector("dialog.ask"))')) await window.click('dialog.ask button.primary, dialog.ask button.danger');
}

test('a capture is approved, and its clean-up is denied with a reason', { skip }, async () => {
  await window.until('document.querySelector("#replies").innerText.includes("packet-capture create")');
  await press('approve');
  await confirm();
  await window.until('[...document.querySelectorAll("#replies [data-action=deny]")].length && document.querySelector("#replies").innerText.includes("packet-capture delete")');
  await press('deny');
  await window.there('dialog[open].modal');
  await window.type('dialog textarea, dialog input[type=text]', 'we want to look at it first');
  await picture('deny');
  await window.click('dialog button[type=submit]');
  await window.until('document.querySelector("#replies").innerText.includes("we want to look at it first")');
});

test('the report names both faults, what is left to do, and that all this was recorded', { skip }, async () => {
  await window.until('document.querySelector("#replies").innerText.includes("Root cause")');
  for (const part of ['guest_firewall_drop', 'netem_delay', 'Told from recordings', 'who removes the packet capture', 'Report of session', 'Audit of session']) {
    await window.until('document.querySelector("#replies").innerText.includes(arguments[0])', part);
  }
  assert.equal(await window.run('return document.querySelectorAll("#replies [data-action=approve], #replies [data-action=deny], #replies [data-action=modify]").length'), 0, 'no card asks any more');
  await window.run('document.querySelector("#replies").scrollTop = 0');
  await picture('board');
  await window.run('document.querySelector("#replies").scrollTop = 1e9');
  await picture('report');
});

test('it reads as well in the dark and on a phone', { skip }, async () => {
  const small = await browser({ width: 390, height: 844, dark: true });
  try {
    await small.open(said[0]);
    await become('alice', small);
    await small.run('document.querySelector("#places .now").click()');
    await small.click('.replies');
    await small.until('document.querySelector("#replies").innerText.includes("Root cause")');
    await picture('phone-end', small);
    await small.run('document.querySelector("#replies").scrollTop = 0');
    await picture('phone', small);
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
