// Plays cases in `ghost demo`, takes pictures of their threads and writes down what was said in them.
//
//   node tests/page/threads.mjs FOLDER [case…]
//
// GHOST_TEST_BINARY names the program; without it, the one that a plain build makes. Each case gives NAME.png (1280×900, light),
// NAME-phone.png (390×844, dark), NAME-board.png and NAME-cardN.png while it asked, and NAME.txt: every message of the thread as a person reads it. `healthy` is the cloud in which nothing
// is wrong. `threads.json` counts the messages. Pictures show emoji where a font with emoji is installed.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { browser } from './browser.mjs';

const CASES = ['j', 'b', 'c', 'w', 'v', 't', 'healthy'];
/** What somebody asks where nothing is wrong. */
const HEALTHY = 'somebody says that tf-source-vm (10.0.1.4) could not reach tf-dest-vm (10.0.1.5) on port 22 this morning. Is anything wrong? nw-forensics-rg';
/** A whole investigation may take longer than a click. */
const LONG = 180000;

const [folder, ...wanted] = process.argv.slice(2);

/** Becomes somebody who may approve. */
async function become(window, name) {
  await window.until('[...document.querySelectorAll("#who option")].some((one) => one.textContent.startsWith(arguments[0]))', name);
  await window.run('const who = document.getElementById("who"); who.value = [...who.options].find((one) => one.textContent.startsWith(arguments[0])).value; who.dispatchEvent(new Event("change"))', name);
  await window.until('document.querySelector("#places .now")');
}

const asks = 'document.querySelector("#replies [data-action=approve]")';
const over = 'document.querySelector("#replies")?.innerText.includes("The whole report")';

/** Approves what is asked until the report is there; keeps a picture and the words of each card. */
async function play(window, name, keep) {
  const cards = [];
  for (;;) {
    await window.patient(LONG, `${asks} || ${over}`);
    const ts = await window.run(`return ${asks}?.closest("article").dataset.ts ?? null`);
    if (ts === null) return cards;
    cards.push(await window.run('return document.querySelector(`article[data-ts="${arguments[0]}"] .content`).innerText', ts));
    if (cards.length === 1) {
      await window.run('document.querySelectorAll("#replies article")[1].scrollIntoView({ block: "start" })');
      await keep(`${name}-board`);
    }
    await window.run('document.querySelector(`article[data-ts="${arguments[0]}"]`).scrollIntoView({ block: "start" })', ts);
    await keep(`${name}-card${cards.length}`);
    await window.run('document.querySelector("#replies [data-action=approve]").click()');
    await window.until('!document.querySelector(`article[data-ts="${arguments[0]}"] [data-action=approve]`) || document.querySelector("dialog.ask")', ts);
    if (await window.run('return Boolean(document.querySelector("dialog.ask"))')) await window.click('dialog.ask button.primary, dialog.ask button.danger');
    await window.until('!document.querySelector(`article[data-ts="${arguments[0]}"] [data-action=approve]`)', ts);
  }
}

/** Opens the thread of the newest message of the channel. */
async function openNewest(window) {
  await window.until('[...document.querySelectorAll("#list article .replies")].length > 0');
  await window.run('[...document.querySelectorAll("#list article .replies")].at(-1).click()');
}

/** Shows the answer at the top of the thread, as Slack does for whoever opens it from a notification. */
const showAnswer = (window) => window.run('[...document.querySelectorAll("#replies article")].find((one) => one.querySelector("[data-action=audit]"))?.scrollIntoView({ block: "start" })');

async function main() {
  const program = process.env.GHOST_TEST_BINARY ?? 'target/debug/ghost';
  const home = mkdtempSync(join(tmpdir(), 'ghost-threads-'));
  mkdirSync(folder, { recursive: true });
  const demo = spawn(program, ['demo'], { stdio: ['ignore', 'pipe', 'inherit'], env: { HOME: home, PATH: process.env.PATH } });
  let address;
  for await (const line of createInterface({ input: demo.stdout })) {
    address ??= line;
    if (line.includes('Ctrl-C')) break;
  }
  const window = await browser({ width: 1280, height: 900 });
  const small = await browser({ width: 390, height: 844, dark: true });
  const keep = async (name, of = window) => {
    const path = join(folder, `${name}.png`);
    writeFileSync(path, Buffer.from(await of.picture(), 'base64'));
    // Where pngquant is installed the pictures become a quarter as large.
    spawnSync('pngquant', ['--force', '--strip', '--ext', '.png', '64', path]);
  };
  const counts = {};
  try {
    for (const one of [window, small]) {
      await one.open(address);
      await become(one, 'alice');
      await one.run('document.querySelector("[data-tour=close]")?.click()');
    }
    for (const name of wanted.length > 0 ? wanted : CASES) {
      const me = await window.run('return document.getElementById("who").value');
      const order = (body) => fetch(`${address}lab/play`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ user: me, ...body }) }).then((answer) => answer.json());
      const before = await window.run('return document.querySelectorAll("#list article .replies").length');
      if (name === 'healthy') {
        await order({ order: 'reset' });
        await window.type('#write', `@ghost ${HEALTHY}`);
        await window.run('document.getElementById("write").dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }))');
      } else {
        const done = await order({ order: 'case', case: name.replace('-', '/') });
        if (done.ok === false) throw new Error(`${name}: ${done.why}`);
      }
      await window.until('document.querySelectorAll("#list article .replies").length > arguments[0]', before);
      await openNewest(window);
      const cards = await play(window, name, keep);
      // Files come behind the answer; the last of them ends the thread.
      await window.until(over);
      const said = await window.run('return [...document.querySelectorAll("#replies article")].map((one) => one.innerText)');
      counts[name] = { messages: said.length, cards: cards.length, height: await window.run('return document.querySelector("#replies").scrollHeight') };
      writeFileSync(join(folder, `${name}.txt`), [...cards.map((card, at) => `── card ${at + 1}, while it asked\n${card}`), ...said.map((words) => `── message\n${words}`)].join('\n\n'));
      await showAnswer(window);
      await keep(name);
      await small.reload();
      await small.until('document.querySelector("#places .now")');
      await small.run('document.querySelector("#places .now").click()');
      await openNewest(small);
      await small.until(over);
      await showAnswer(small);
      await keep(`${name}-phone`, small);
      await small.run('document.querySelector("#thread .back")?.click()');
      process.stdout.write(`${name}: ${JSON.stringify(counts[name])}\n`);
    }
    writeFileSync(join(folder, 'threads.json'), `${JSON.stringify(counts, null, 2)}\n`);
  } finally {
    await window.quit();
    await small.quit();
    if (demo.exitCode === null && demo.kill('SIGINT')) await once(demo, 'exit');
    rmSync(home, { recursive: true, force: true });
  }
}

if (folder) await main();
else if (process.argv[1]?.endsWith('threads.mjs')) process.stderr.write('usage: node tests/page/threads.mjs FOLDER [case…]\n');
