// A small stand-in for the workspace: it answers what the page asks, remembers what the page did, and can go away.

import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const FOLDER = new URL('../../crates/lab-slack/src/page/', import.meta.url);
const RUST = readFileSync(new URL('asset.rs', FOLDER), 'utf8');
// The policy as the program has it: a line that continues has its indentation cut.
const POLICY = /CONTENT_SECURITY_POLICY: &str = "([^"]+)"/.exec(RUST)[1].replace(/\\\n\s*/g, '');
const TYPES = { html: 'text/html', css: 'text/css', js: 'text/javascript', svg: 'image/svg+xml' };

const plain = (text) => ({ type: 'plain_text', text });
const mrkdwn = (text) => ({ type: 'mrkdwn', text });
const button = (action_id, text, more = {}) => ({ type: 'button', action_id, text: plain(text), ...more });

/** The modal that the `modify` button opens. */
const MODAL = {
  id: 'V1', hash: '1', type: 'modal', title: plain('Modify'), submit: plain('Run'), close: plain('Cancel'), state: { values: {} },
  blocks: [
    { type: 'input', block_id: 'command', label: plain('Command'), element: { type: 'plain_text_input', action_id: 'text', initial_value: 'rm -rf /' } },
    { type: 'input', block_id: 'how', label: plain('How'), element: { type: 'radio_buttons', action_id: 'one', options: [{ text: plain('Now'), value: 'now' }, { text: plain('Later'), value: 'later' }] } },
    { type: 'input', block_id: 'who', label: plain('Who'), optional: true, element: { type: 'multi_users_select', action_id: 'some' } },
    { type: 'input', block_id: 'day', label: plain('Day'), optional: true, element: { type: 'datepicker', action_id: 'date', initial_date: '2026-02-03' } },
  ],
};

const approval = (ts) => ({
  user: 'UB', bot_id: 'B1', ts, text: 'Approval needed',
  blocks: [
    { type: 'section', block_id: 's', text: mrkdwn('Approval needed: `ip link set eth0 down`'), accessory: { type: 'overflow', action_id: 'more', options: [{ text: plain('Explain'), value: 'explain' }] } },
    { type: 'actions', block_id: 'a', elements: [
      button('approve', 'Approve', { style: 'primary', value: '7', confirm: { title: plain('Run it?'), text: mrkdwn('It is *changed*.'), confirm: plain('Yes'), deny: plain('No') } }),
      button('modify', 'Modify'),
      { type: 'static_select', action_id: 'snooze', placeholder: plain('Snooze'), options: [{ text: plain('An hour'), value: '60' }] },
    ] },
  ],
});

/** Opens a workspace on a free port (or on the one given). */
export async function workspace({ port = 0, messages } = {}) {
  const start = Math.floor(Date.now() / 1000) - 100;
  let count = 0;
  const ts = () => `${start + (count += 1)}.000100`;
  const said = messages ?? [{ user: 'U2', text: 'hello', ts: ts() }, approval(ts()), { user: 'UB', bot_id: 'B1', text: 'Not yours to approve.', ts: ts(), is_ephemeral: true }];
  const done = [];
  const listeners = new Set();
  let view = null;
  const tell = (notice) => listeners.forEach((one) => one.write(`event: change\ndata: ${JSON.stringify(notice)}\n\n`));
  const answers = {
    '/lab/state': () => ({
      team: { name: 'Lab' }, usergroups: [], apps: [{ id: 'A1', bot_user_id: 'UB', command: '/ghost' }],
      users: [['U1', 'ana', 'Ana'], ['U2', 'ben', 'Ben'], ['UB', 'ghost', 'Ghost', true]].map(([id, name, real_name, is_bot]) => ({ id, name, real_name, is_bot, profile: {} })),
      channels: [{ id: 'C1', name: 'incidents', is_member: true }, { id: 'C2', name: 'general', is_member: true }, { id: 'D1', is_im: true, user: 'UB' }],
    }),
    '/lab/channel': ({ channel }) => ({ ok: true, messages: channel === 'C1' ? said.filter((one) => !one.thread_ts || one.thread_ts === one.ts) : [] }),
    '/lab/thread': ({ ts: root }) => ({ ok: true, messages: said.filter((one) => one.ts === root || one.thread_ts === root), session: { app_id: 'A1', status: 'is measuring the path…', can_stop: true } }),
    '/lab/view': () => view,
    '/lab/home': () => ({ ok: true, view: { id: 'H1', type: 'home', blocks: [{ type: 'header', text: plain('Sessions') }] } }),
    '/lab/message': (body) => {
      const one = { user: body.user, text: body.text.replace('@ghost', '<@UB>'), ts: ts(), ...(body.thread_ts ? { thread_ts: body.thread_ts } : {}) };
      said.push(one);
      tell({ kind: 'message', channel: body.channel, ts: one.ts, thread_ts: one.thread_ts });
      return { ok: true, ts: one.ts };
    },
    '/lab/press': ({ action_id }) => {
      if (action_id === 'modify') view = MODAL;
      if (action_id === 'approve') {
        const one = said.find((message) => message.text === 'Approval needed');
        one.blocks = [{ type: 'section', text: mrkdwn('Approved by <@U1>') }];
        tell({ kind: 'message', channel: 'C1', ts: one.ts });
      }
      return { ok: true, view };
    },
    '/lab/submit': ({ values }) => {
      if (values.command.text === 'rm -rf /') return { ok: false, errors: { command: 'Never.' } };
      view = null;
      return { ok: true };
    },
    '/lab/options': () => ({ ok: true, options: ['web-1', 'web-2'].map((text) => ({ text: plain(text), value: text.at(-1) })) }),
    '/lab/close': () => { view = null; return { ok: true }; },
  };
  const server = createServer((request, response) => {
    const url = new URL(request.url, 'http://localhost');
    const path = url.pathname;
    let text = '';
    request.on('data', (piece) => { text += piece; });
    request.on('end', () => {
      if (path === '/lab/events') {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(': here\n\n');
        listeners.add(response);
        response.on('close', () => listeners.delete(response));
        return;
      }
      if (path.startsWith('/lab/')) {
        const isForm = request.headers['content-type']?.startsWith('multipart/');
        const body = isForm ? { form: text } : request.method === 'POST' ? JSON.parse(text) : Object.fromEntries(url.searchParams);
        if (request.method === 'POST') done.push([path, body]);
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify((answers[path] ?? (() => ({ ok: true })))(body)));
        return;
      }
      const name = path === '/' ? 'page.html' : path.replace('/page/', '');
      response.writeHead(200, { 'content-type': `${TYPES[name.split('.').at(-1)]}; charset=utf-8`, 'content-security-policy': POLICY });
      response.end(readFileSync(new URL(name, FOLDER)));
    });
  });
  await new Promise((resolve) => { server.listen(port, '127.0.0.1', resolve); });
  return {
    port: server.address().port,
    url: `http://127.0.0.1:${server.address().port}/`,
    done, said, tell, ts,
    refuse: (path, error) => { answers[path] = () => ({ ok: false, error }); },
    show: (next) => { view = next; tell({ kind: 'view' }); },
    close: () => new Promise((resolve) => { server.close(resolve); server.closeAllConnections(); }),
  };
}
