// A small app of its own: it takes signed requests and answers through the Web API, as any app of Slack would.

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import { deflateSync } from 'node:zlib';

const plain = (text) => ({ type: 'plain_text', text });
const mrkdwn = (text) => ({ type: 'mrkdwn', text });
const button = (action_id, text, more = {}) => ({ type: 'button', action_id, text: plain(text), ...more });

/** The card that asks for consent to a command. */
const card = (command) => [
  { type: 'header', text: plain('Approval needed') },
  { type: 'section', text: mrkdwn(`Ghost wants to change *web-1* and asks first:\n\`\`\`${command}\`\`\``), accessory: { type: 'overflow', action_id: 'more', options: [{ text: plain('Explain'), value: 'explain' }, { text: plain('Show the session'), value: 'session' }] } },
  { type: 'section', fields: [mrkdwn('*Effect*\nThe interface is down for about a second'), mrkdwn('*Undo*\n`ip link set eth0 mtu 1500`')] },
  { type: 'actions', block_id: 'consent', elements: [
    button('approve', 'Approve', { style: 'primary', value: command, confirm: { title: plain('Run it on web-1?'), text: mrkdwn('The command runs *once*, in your name.'), confirm: plain('Run it'), deny: plain('Not yet') } }),
    button('modify', 'Modify…'), button('deny', 'Deny', { style: 'danger' }),
  ] },
  { type: 'context', elements: [mrkdwn(':hourglass: Expires in 15 minutes · asked by <@U0LABBOB01>')] },
];

const MODAL = {
  type: 'modal', callback_id: 'modify', title: plain('Modify the command'), submit: plain('Use this'), close: plain('Cancel'),
  blocks: [
    { type: 'section', text: mrkdwn('What you write is judged again before anybody is asked.') },
    { type: 'input', block_id: 'command', label: plain('Command'), hint: plain('One command, no pipes.'), element: { type: 'plain_text_input', action_id: 'line', initial_value: 'rm -rf /' } },
    { type: 'input', block_id: 'when', label: plain('When'), element: { type: 'radio_buttons', action_id: 'one', options: [{ text: plain('Now'), value: 'now' }, { text: plain('In the next window'), value: 'later', description: plain('Tonight at 22:00') }], initial_option: { text: plain('Now'), value: 'now' } } },
    { type: 'input', block_id: 'who', optional: true, label: plain('Tell as well'), element: { type: 'multi_users_select', action_id: 'some', placeholder: plain('Nobody') } },
  ],
};

const HOME = {
  type: 'home',
  blocks: [
    { type: 'header', text: plain('Your investigations') },
    { type: 'section', text: mrkdwn('*web-1 is slow* in <#C0LAB0NETW>\nWaiting for an approval'), accessory: button('open', 'Open') },
    { type: 'divider' },
    { type: 'section', text: mrkdwn('*No route to db-2* in <#C0LAB1GENE>\nDone: a route pointed at a gateway that is gone'), accessory: button('report', 'Report') },
    { type: 'context', elements: [mrkdwn('Ghost looks first and asks before it changes anything.')] },
  ],
};

/** What the app found out, in the blocks that findings come in. */
const FINDINGS = [
  { type: 'rich_text', elements: [
    { type: 'rich_text_section', elements: [{ type: 'text', text: 'Large packets are lost between ' }, { type: 'text', text: 'web-1', style: { code: true } }, { type: 'text', text: ' and ' }, { type: 'text', text: 'db-2', style: { code: true } }, { type: 'text', text: '; small ones are not.' }] },
    { type: 'rich_text_list', style: 'bullet', elements: [{ type: 'rich_text_section', elements: [{ type: 'text', text: 'The interface sends ' }, { type: 'text', text: '9000', style: { bold: true } }, { type: 'text', text: ' bytes at once' }] }, { type: 'rich_text_section', elements: [{ type: 'text', text: 'The path carries ' }, { type: 'text', text: '1500', style: { bold: true } }] }] },
    { type: 'rich_text_preformatted', elements: [{ type: 'text', text: '$ ping -M do -s 8972 10.0.2.4\nping: local error: message too long, mtu=1500' }] },
  ] },
  { type: 'table', rows: [['Hop', 'MTU', 'Loss'], ['10.0.1.1', '9000', '0 %'], ['10.0.2.1', '1500', '38 %'], ['10.0.2.4', '1500', '38 %']].map((row) => row.map((text) => ({ type: 'raw_text', text }))), column_settings: [{}, { align: 'right' }, { align: 'right' }] },
];

/** The checksum of a PNG's chunks, which older versions of Node do not offer. */
function crc32(bytes) {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit += 1) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return (sum ^ 0xffffffff) >>> 0;
}

/** A picture of a line that falls, as bytes of a PNG. */
function png(width = 480, height = 180) {
  const raw = Buffer.alloc((width * 3 + 1) * height, 255);
  for (let y = 0; y < height; y += 1) {
    raw[y * (width * 3 + 1)] = 0;
    for (let x = 0; x < width; x += 1) {
      const line = height * (x < width / 2 ? 0.25 : 0.75) + 6 * Math.sin(x / 7);
      const color = Math.abs(y - line) < 2 ? [61, 90, 158] : y > line ? [225, 232, 246] : y % 45 === 0 ? [230, 230, 235] : null;
      if (color) raw.set(color, y * (width * 3 + 1) + 1 + x * 3);
    }
  }
  const chunk = (kind, data) => {
    const body = Buffer.concat([Buffer.from(kind), data]);
    const ends = [Buffer.alloc(4), Buffer.alloc(4)];
    ends[0].writeUInt32BE(data.length);
    ends[1].writeUInt32BE(crc32(body));
    return Buffer.concat([ends[0], body, ends[1]]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2, 0, 0, 0], 8);
  return Buffer.concat([Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]), chunk('IHDR', head), chunk('IDAT', deflateSync(raw)), chunk('IEND', Buffer.alloc(0))]);
}

/** Starts the app and tells the workspace where it is. `names` are what the workspace prints to export. */
export async function app(names) {
  const seen = [];
  const api = async (method, body) => {
    const answer = await fetch(`${names.SLACK_API_URL}${method}`, { method: 'POST', headers: { 'content-type': 'application/json', authorization: `Bearer ${names.SLACK_BOT_TOKEN}` }, body: JSON.stringify(body) });
    const told = await answer.json();
    assert.ok(told.ok, `${method}: ${JSON.stringify(told)}`);
    return told;
  };

  async function share(channel, thread_ts) {
    const bytes = png();
    const { upload_url, file_id } = await api('files.getUploadURLExternal', { filename: 'throughput.png', length: bytes.length });
    await fetch(upload_url, { method: 'POST', body: bytes });
    await api('files.completeUploadExternal', { files: [{ id: file_id, title: 'Throughput of web-1' }], channel_id: channel, ...(thread_ts ? { thread_ts } : {}) });
  }

  const asked = {};
  const events = {
    app_mention: async ({ channel, ts, user }) => {
      const root = await api('chat.postMessage', { channel, text: 'Approval needed', blocks: card('ip link set eth0 mtu 9000') });
      asked[user] = { channel, ts: root.ts };
      await api('chat.postMessage', { channel, thread_ts: root.ts, text: 'What Ghost found', blocks: FINDINGS });
    },
    app_home_opened: ({ user, tab }) => (tab === 'home' ? api('views.publish', { user_id: user, view: HOME }) : null),
  };
  const actions = {
    modify: ({ trigger_id }) => api('views.open', { trigger_id, view: MODAL }),
    approve: async ({ channel, message, user, actions: [action] }) => {
      const blocks = [{ type: 'section', text: mrkdwn(`:white_check_mark: \`${action.value}\` ran. Approved by <@${user.id}>.`) }];
      await api('chat.update', { channel: channel.id, ts: message.ts, text: 'Approved', blocks });
      await api('chat.postEphemeral', { channel: channel.id, user: user.id, text: 'Thank you. The whole session is in your *Home* tab.' });
      await share(channel.id);
    },
  };

  /** What is answered at once, and what is done after that. */
  function take(payload) {
    if (payload.type === 'url_verification') return [{ challenge: payload.challenge }];
    if (payload.type === 'event_callback') return [{}, () => events[payload.event.type]?.(payload.event)];
    if (payload.type === 'block_actions') return [null, () => actions[payload.actions[0].action_id]?.(payload)];
    if (payload.type === 'view_submission') {
      const line = payload.view.state.values.command.line.value;
      if (line.startsWith('rm')) return [{ response_action: 'errors', errors: { command: 'This would delete every file. Write a command that does not.' } }];
      const { channel, ts } = asked[payload.user.id];
      return [null, () => api('chat.update', { channel, ts, text: 'Approval needed', blocks: card(line) })];
    }
    return [null];
  }

  const failed = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (piece) => { body += piece; });
    request.on('end', () => {
      const time = request.headers['x-slack-request-timestamp'];
      const sign = `v0=${createHmac('sha256', names.SLACK_SIGNING_SECRET).update(`v0:${time}:${body}`).digest('hex')}`;
      if (sign !== request.headers['x-slack-signature']) failed.push(new Error('a request was not signed'));
      const isForm = request.headers['content-type'].startsWith('application/x-www-form-urlencoded');
      const payload = JSON.parse(isForm ? new URLSearchParams(body).get('payload') : body);
      seen.push(payload);
      const [answer, then] = take(payload);
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(answer ? JSON.stringify(answer) : '');
      Promise.resolve(then?.()).catch((error) => failed.push(error));
    });
  });
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  const url = `http://127.0.0.1:${server.address().port}/`;
  const set = await fetch(`${names.SLACK_WORKSPACE_URL}lab/app`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ request_url: url }) });
  assert.equal(set.status, 200, await set.text());
  return { seen, failed, close: () => new Promise((resolve) => { server.close(resolve); server.closeAllConnections(); }) };
}
