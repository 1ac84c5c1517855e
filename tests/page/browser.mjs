// Drives a real Chromium through its driver, with nothing but Node's own fetch.

import { spawn } from 'node:child_process';

const KEYS = { Enter: '\ue007', Escape: '\ue00c', Up: '\ue013', Down: '\ue015', Shift: '\ue008' };
const ELEMENT = 'element-6066-11e4-a52e-4f735466cecf';
const PATIENCE = 60000;

export { KEYS };

/** Starts the driver and a browser window. */
export async function browser({ width = 1200, height = 800, dark = false } = {}) {
  const driver = spawn('chromedriver', ['--port=0'], { stdio: ['ignore', 'pipe', 'ignore'] });
  const port = await new Promise((resolve, reject) => {
    driver.on('error', reject);
    let text = '';
    driver.stdout.on('data', (piece) => {
      text += piece;
      const found = /started successfully on port (\d+)/.exec(text);
      if (found) resolve(found[1]);
    });
  });
  const call = async (method, path, body) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method, body: body && JSON.stringify(body), headers: { 'content-type': 'application/json' } });
    const { value } = await answer.json();
    if (!answer.ok) throw new Error(`${path}: ${value.error}: ${value.message}`);
    return value;
  };
  const { sessionId } = await call('POST', '/session', { capabilities: { alwaysMatch: {
    'goog:loggingPrefs': { browser: 'ALL' },
    'goog:chromeOptions': { args: ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', `--window-size=${width},${height}`] },
  } } });
  const on = (method, path, body) => call(method, `/session/${sessionId}${path}`, body);
  const command = (cmd, params) => on('POST', '/goog/cdp/execute', { cmd, params });
  await command('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false });
  await command('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }] });
  const find = async (css) => (await on('POST', '/element', { using: 'css selector', value: css }))[ELEMENT];
  const run = (script, ...args) => on('POST', '/execute/sync', { script, args });

  /** Waits until an expression in the page is true. */
  const until = (expression, ...args) => patient(PATIENCE, expression, ...args);

  /** Waits so many milliseconds at most. */
  async function patient(patience, expression, ...args) {
    const end = Date.now() + patience;
    for (;;) {
      if (await run(`return Boolean(${expression})`, ...args)) return;
      if (Date.now() > end) throw new Error(`never true: ${expression} ${args.join(' ')}\n${await run('return document.body.innerText')}`);
    }
  }
  const there = (css) => until('document.querySelector(arguments[0])', css);
  return {
    run, until, patient, there,
    open: (url) => on('POST', '/url', { url }),
    reload: () => on('POST', '/refresh', {}),
    click: async (css) => {
      // The page may draw itself anew between finding and clicking.
      for (let left = 20; ; left -= 1) {
        await there(css);
        try {
          return await on('POST', `/element/${await find(css)}/click`, {});
        } catch (error) {
          if (left === 0 || !/stale element/.test(error.message)) throw error;
        }
      }
    },
    type: async (css, text) => { await there(css); await on('POST', `/element/${await find(css)}/value`, { text }); },
    press: (key) => on('POST', '/actions', { actions: [{ type: 'key', id: 'k', actions: [{ type: 'keyDown', value: key }, { type: 'keyUp', value: key }] }] }),
    says: (text) => until('document.body.innerText.includes(arguments[0])', text),
    silent: (text) => until('!document.body.innerText.includes(arguments[0])', text),
    log: () => on('POST', '/se/log', { type: 'browser' }),
    /** A picture of the window, or of a part of the page. */
    picture: async (clip) => (clip ? (await command('Page.captureScreenshot', { format: 'png', clip: { ...clip, scale: 1 } })).data : on('GET', '/screenshot')),
    quit: async () => { await on('DELETE', '').catch(() => {}); driver.kill(); },
  };
}
