// The page in a real browser, before the real workspace, with an app behind it: what a newcomer's first minutes look like.
//
// GHOST_TEST_BINARY names the program; without it, the one that a plain build makes.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { app } from './app.mjs';
import { KEYS, browser } from './browser.mjs';

const without = (process.env.GHOST_TEST_WITHOUT ?? '').split(',').includes('chromium');
const skip = without && 'GHOST_TEST_WITHOUT names chromium';
const shots = process.env.GHOST_TEST_SCREENSHOTS;
let folder;
let lab;
let names;
let bot;
let window;

/** Starts the program and reads what it prints to export. */
async function start() {
  lab = spawn(process.env.GHOST_TEST_BINARY ?? 'target/debug/ghost', ['lab', 'slack', '--data-dir', folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  const found = {};
  for await (const line of createInterface({ input: lab.stdout })) {
    if (line === '# ready') return found;
    const [, name, value] = /^export ([A-Z_]+)=(.*)$/.exec(line) ?? [];
    if (name) found[name] = value;
  }
  throw new Error('the workspace ended before it was ready');
}

before(async () => {
  if (without) return;
  folder = mkdtempSync(join(tmpdir(), 'ghost-page-'));
  names = await start();
  window = await browser({ width: 1280, height: 800 });
});
after(async () => {
  await window?.quit();
  await bot?.close();
  // It writes what it keeps before it ends.
  if (lab?.kill()) await once(lab, 'exit');
  if (folder) rmSync(folder, { recursive: true, force: true });
});

async function picture(name, of = window) {
  if (shots) writeFileSync(`${shots}/live-${name}.png`, Buffer.from(await of.picture(), 'base64'));
}

async function person(act, body) {
  const answer = await fetch(`${names.SLACK_WORKSPACE_URL}lab/${act}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  return answer.json();
}

/** Becomes somebody else. */
async function become(name, of = window) {
  await of.until('[...document.querySelectorAll("#who option")].some((one) => one.textContent.startsWith(arguments[0]))', name);
  await of.run('const who = document.getElementById("who"); who.value = [...who.options].find((one) => one.textContent.startsWith(arguments[0])).value; who.dispatchEvent(new Event("change"))', name);
  await of.until('document.querySelector("#places .now")');
}

test('a newcomer is told that no app is there, and sees one come', { skip }, async () => {
  await window.open(names.SLACK_WORKSPACE_URL);
  await window.says('No program speaks for Ghost yet.');
  await window.says('not connected');
  await picture('alone');
  bot = await app(names);
  await window.there('#places .line.on');
  await window.silent('No program speaks for Ghost yet.');
  await picture('empty');
});

test('a person chooses who to be, and mentions the app with a button', { skip }, async () => {
  await become('bob');
  assert.equal(await window.run('return document.querySelector("#places .now .name").textContent'), 'network-incidents');
  await window.click('#list .empty button');
  assert.equal(await window.run('return document.activeElement.value'), '@ghost ');
});

test('a mention brings a card, live', { skip }, async () => {
  await window.type('#write', `web-1 is slow since noon, can you look?${KEYS.Enter}`);
  await window.there('[data-action=approve]');
  await window.says('1 reply');
  await picture('card');
});

test('a modal errs under its field, is taken when it is right, and changes the card', { skip }, async () => {
  await window.click('[data-action=modify]');
  await window.there('dialog[open].modal');
  await window.click('dialog button[type=submit]');
  await window.until('document.querySelector("[data-block=command] .wrong")?.textContent.startsWith("This would delete")');
  await picture('modal');
  await window.run('const line = document.querySelector("[data-block=command] input"); line.value = "ip link set eth0 mtu 1500"; line.dispatchEvent(new Event("input"))');
  await window.click('dialog button[type=submit]');
  await window.until('!document.querySelector("dialog")');
  await window.until('document.querySelector("#list pre")?.textContent.includes("mtu 1500")');
});

test('a press asks first, then the message changes, and the person alone is thanked', { skip }, async () => {
  await window.click('[data-action=approve]');
  await window.there('dialog[open].ask');
  await picture('confirm');
  await window.click('dialog.ask button.primary');
  await window.says('Approved by @bob');
  await window.until('!document.querySelector("[data-action=approve]")');
  await window.until('document.querySelector("article.ephemeral")?.innerText.includes("Only visible to you")');
  await window.until('document.querySelector("#list img.picture")?.naturalWidth === 480');
  await picture('done');
});

test('nobody else sees what was for one alone', { skip }, async () => {
  await become('alice');
  await window.says('Approved by @bob');
  await window.until('!document.querySelector("article.ephemeral")');
  await become('bob');
  await window.there('article.ephemeral');
});

test('a thread shows what was found', { skip }, async () => {
  await window.click('.replies');
  await window.until('document.querySelector("#thread:not([hidden]) table")');
  await picture('thread');
  await window.type('#reply', `Thank you, that was quick.${KEYS.Enter}`);
  await window.until('document.querySelector("#replies").innerText.includes("that was quick")');
});

test('what is said elsewhere is marked as unread', { skip }, async () => {
  await person('message', { user: 'chloe', channel: 'general', text: 'Lunch?' });
  await window.there('[data-place=C0LAB1GENE] .dot');
  await picture('unread');
});

test('the app publishes its Home when a person opens it', { skip }, async () => {
  await window.click('[data-place=U0LABGHOST]');
  await window.until('!document.querySelector("#tabs").hidden');
  await window.run('[...document.querySelectorAll("#tabs button")].find((one) => one.textContent === "Home").click()');
  await window.says('Your investigations');
  await picture('home');
});

test('who, where and what was said survive a reload, and what was for one alone does not', { skip }, async () => {
  await window.click('[data-place=C0LAB0NETW]');
  await window.says('Approved by @bob');
  await window.reload();
  await window.says('Approved by @bob');
  await window.until('!document.querySelector("article.ephemeral")');
  assert.match(await window.run('return document.getElementById("who").selectedOptions[0].textContent'), /^bob/);
  assert.equal(await window.run('return document.querySelector("#places .now").dataset.place'), 'C0LAB0NETW');
});

test('the same on a phone in the dark', { skip }, async () => {
  const phone = await browser({ width: 390, height: 780, dark: true });
  try {
    const fits = () => phone.run('return document.documentElement.scrollWidth <= innerWidth');
    await phone.open(names.SLACK_WORKSPACE_URL);
    await phone.says('Approved by @bob');
    assert.ok(await fits());
    await picture('phone', phone);
    await phone.click('#main .back');
    await phone.until('getComputedStyle(document.getElementById("side")).display !== "none"');
    await picture('phone-side', phone);
    await phone.click('[data-place=C0LAB0NETW]');
    await phone.type('#write', '@ghost and db-2?');
    await phone.type('#write', KEYS.Enter);
    await phone.click('[data-action=modify]');
    await phone.there('dialog[open].modal');
    assert.ok(await fits());
    await picture('phone-modal', phone);
    await phone.click('dialog button[type=submit]');
    await phone.says('This would delete');
    await phone.press(KEYS.Escape);
    await phone.until('!document.querySelector("dialog")');
    await phone.run('[...document.querySelectorAll(".replies")].at(-1).click()');
    await phone.there('#replies table');
    assert.ok(await fits());
    await picture('phone-thread', phone);
  } finally {
    await phone.quit();
  }
});

test('nothing failed on the way, in the app or on the page', { skip }, async () => {
  assert.deepEqual(bot.failed, []);
  const errors = (await window.log()).filter((line) => line.level === 'SEVERE');
  assert.deepEqual(errors, []);
});
