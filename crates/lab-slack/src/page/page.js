// The page: who I am, where I am, and what has to be drawn again when something happens.

import { Failure, fileUrl, get, listen, post, send } from './api.js';
import { drawBlocks } from './block.js';
import { composer } from './composer.js';
import { ask, h, icon, popup, toast } from './dom.js';
import { QUICK, emojiOf } from './emoji.js';
import { arrows, empty, keep, portrait } from './message.js';
import { modals } from './modal.js';
import { player } from './play.js';
import { plain } from './render.js';
import { placesOf, sidebar } from './side.js';
import { memory } from './memory.js';
import { guide } from './tour.js';

const at = (id) => document.getElementById(id);
const kept = memory();
const world = { users: [], channels: [], apps: [], usergroups: [], team: {} };
const here = { user: null, channel: null, thread: null, tab: 'messages', unread: new Set(), wrote: null, wroteAfter: '' };
let messages = [];
let replies = [];
let silence = null;

/** Says what went wrong instead of going down with it. */
async function tried(work, or) {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Failure)) console.error(error);
    toast(error instanceof Failure ? `That did not work: ${error.message}.` : 'Something on this page went wrong.', true);
    return or;
  }
}

const user = (id) => world.users.find((one) => one.id === id);
const channel = (id) => world.channels.find((one) => one.id === id);
const listening = () => world.apps.filter((one) => one.listens !== false);
/** The app that somebody speaks with in a conversation, if it is an app. */
const appIn = (place) => place?.is_im && listening().find((one) => one.bot_user_id === place.user);
const shown = (one) => one && (one.profile?.display_name || one.real_name || one.name);

const names = {
  get me() { return here.user; },
  // What a drawn message depends on besides itself.
  get print() { return `${here.user} ${world.users.length} ${world.channels.length}`; },
  user: (id) => shown(user(id)),
  channel: (id) => channel(id)?.name,
  group: (id) => { const one = world.usergroups?.find((group) => group.id === id); return one && `@${one.handle}`; },
  open: (id, text) => (channel(id) ? h('button', { type: 'button', class: 'mention', onclick: () => go(id) }, text) : h('span', { class: 'mention' }, text)),
};

/** What the blocks of a place need: how to press, whom to offer, where files are. */
function context(place) {
  const where = () => ({ user: here.user, ...place });
  return {
    names,
    file: (id) => fileUrl(id, here.user),
    press: (block, element, value) => tried(async () => {
      // A view that the app opens arrives as a change: nothing waits here.
      const body = { ...where(), wait_ms: 0, block_id: block.block_id, action_id: element.action_id, ...(place.values ? { values: place.values() } : {}) };
      if (value !== undefined) body.value = value;
      const answer = await post('/lab/press', body);
      if (answer?.view) modal.take(answer.view);
    }),
    people: (kind, element) => {
      if (kind === 'users') return world.users.filter((one) => !one.deleted).map((one) => ({ value: one.id, label: shown(one) }));
      const wanted = element.filter?.include;
      const fits = (one) => kind === 'conversations' ? !wanted || wanted.includes(one.is_im ? 'im' : one.is_mpim ? 'mpim' : one.is_private ? 'private' : 'public') : !one.is_im && !one.is_mpim && !one.is_private;
      return world.channels.filter(fits).map((one) => ({ value: one.id, label: one.is_im ? shown(user(one.user)) ?? one.user : `#${one.name}` }));
    },
    suggest: async (block, element, query) => {
      const answer = await tried(() => post('/lab/options', { ...where(), block_id: block.block_id, action_id: element.action_id, value: query }), null);
      return answer && (answer.option_groups ?? [{ options: answer.options ?? [] }]);
    },
    upload: (file) => tried(async () => (await send('/lab/upload', { user: here.user }, file)).file),
  };
}

const modal = modals({
  context: (view, fields) => context({ view_id: view.id, values: () => Object.fromEntries([...fields.values()].reduce((all, one) => {
    const row = all.get(one.block.block_id) ?? {};
    row[one.element.action_id] = one.read();
    return all.set(one.block.block_id, row);
  }, new Map())) }),
  submit: (view, values) => tried(async () => {
    const answer = await post('/lab/submit', { user: here.user, view_id: view.id, values });
    if (!answer?.errors) await look();
    return answer?.errors;
  }),
  close: (view, all) => tried(async () => {
    await post('/lab/close', { user: here.user, view_id: view.id, clear: all });
    await look();
  }),
});

const play = player({
  me: () => here.user,
  open: async (id, ts) => { await go(id, { quiet: true }); await openThread(ts, false); },
  say: async (id, text) => { await go(id, { quiet: true }); write.set(text); kept.put(`draft ${here.user} ${id} `, text); write.area.focus(); },
});

/** Says something in the name of whoever is here; in the demo the thread of what is asked opens at once. */
async function tell(text, thread, broadcast) {
  here.wrote = thread ? 'thread' : 'channel';
  here.wroteAfter = (thread ? replies : messages).at(-1)?.ts ?? '';
  const answer = await post('/lab/message', { user: here.user, channel: here.channel, text, ...(thread ? { thread_ts: thread, reply_broadcast: broadcast } : {}) });
  const asked = !thread && listening().some((app) => text.toLowerCase().includes(`@${user(app.bot_user_id)?.name?.toLowerCase()}`));
  if (world.plays && asked && answer.ts) await openThread(answer.ts, true);
  return true;
}

const tour = guide(at('tour'), {
  get: () => kept.get('tour'),
  put: (step) => kept.put('tour', step),
  ready: () => Boolean(world.plays),
  ask: () => tried(() => tell(`@${user(world.apps[0].bot_user_id).name} ${world.opening}`), false),
  reply: (text) => (here.thread ? tried(() => tell(`@${user(world.apps[0].bot_user_id).name} ${text}`, here.thread, false), false) : toast('Open the thread first.')),
  play: (name) => tried(async () => {
    const answer = await post('/lab/play', { user: here.user, order: 'case', case: name });
    await go(answer.channel, { quiet: true });
    await openThread(answer.ts, false);
    return true;
  }, false),
  open: () => play.open(),
});

const look = async () => modal.take(await get('/lab/view', { user: here.user }));

const acts = {
  names,
  get me() { return here.user; },
  file: (id) => fileUrl(id, here.user),
  context: (message) => context({ channel: here.channel, ts: message.ts }),
  open: (message) => openThread(message.thread_ts ?? message.ts, true),
  react: (message, name, remove) => tried(() => post('/lab/reaction', { user: here.user, channel: here.channel, ts: message.ts, name, remove })),
  pick: (button, message) => popup(button, QUICK.map((name) => ({ text: emojiOf(name), title: name, class: 'face', act: () => acts.react(message, name, false) })), 'Add a reaction').classList.add('faces'),
  remove: (message) => tried(async () => {
    if (!message.is_ephemeral && !(await ask({ title: 'Delete this message?', text: 'This cannot be undone.', confirm: 'Delete', deny: 'Cancel', style: 'danger' }))) return;
    await post('/lab/delete', { user: here.user, channel: here.channel, ts: message.ts });
  }),
  edit(message) {
    const article = [...document.querySelectorAll('article')].find((node) => node.dataset.ts === message.ts);
    const content = article?.querySelector('.content');
    if (!content) return;
    const area = h('textarea', { rows: 2, 'aria-label': 'Edit the message' });
    area.value = source(message.text);
    const back = () => { delete article.dataset.print; draw(); };
    const save = () => tried(async () => { await post('/lab/edit', { user: here.user, channel: here.channel, ts: message.ts, text: area.value }); back(); });
    area.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') back();
      else if (event.key === 'Enter' && !event.shiftKey) save();
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
    content.replaceChildren(area, h('div', { class: 'actions' }, h('button', { type: 'button', class: 'primary', onclick: save }, 'Save'), h('button', { type: 'button', class: 'plain', onclick: back }, 'Cancel')));
    area.focus();
  },
};

/** A text as a person would type it again. */
function source(text) {
  return String(text ?? '').replace(/<@([A-Z0-9]+)(?:\|[^>]*)?>/g, (_, id) => `@${user(id)?.name ?? id}`)
    .replace(/<#[A-Z0-9]+\|([^>]*)>/g, '#$1').replace(/<!(here|channel|everyone)(?:\|[^>]*)?>/g, '@$1')
    .replace(/<(https?:[^|>\s]+)>/g, '$1')
    .replace(/&lt;/g, '<').replace(/&gt;/g, '>').replace(/&amp;/g, '&');
}

function writer(id, label, thread) {
  const key = () => `draft ${here.user} ${here.channel} ${thread ? here.thread : ''}`;
  const made = composer({
    send: (text, broadcast) => tried(async () => {
      if (text.startsWith('/') && !thread) await post('/lab/command', { user: here.user, channel: here.channel, text });
      else await tell(text, thread ? here.thread : undefined, broadcast);
      return true;
    }, false),
    people: () => world.users.filter((one) => !one.deleted).map((one) => ({ name: one.name, real: shown(one) })).concat([{ name: 'here', real: 'everybody who is here' }]),
    places: () => world.channels.filter((one) => one.name).map((one) => one.name),
    commands: () => world.apps.flatMap((app) => [app.commands ?? app.command ?? []].flat()).map((one) => (typeof one === 'string' ? { name: one, hint: '' } : { name: one.command ?? one.name, hint: one.description ?? '' })).filter((one) => one.name),
    share: (file) => tried(() => send('/lab/upload', { user: here.user, channel: here.channel, ...(thread ? { thread_ts: here.thread } : {}) }, file)),
    saved: (text) => kept.put(key(), text),
    last: () => { const mine = (thread ? replies : messages).filter((one) => one.user === here.user && !one.is_ephemeral); if (mine.length > 0) acts.edit(mine.at(-1)); },
  }, { id, label, broadcast: thread });
  return { ...made, again: () => made.set(kept.get(key()) ?? '') };
}

const write = writer('write', 'Write a message', false);
const reply = writer('reply', 'Reply in the thread', true);
const status = h('div', { class: 'status', 'aria-live': 'polite' });
const ahead = h('p', { class: 'ahead' });
const threadStatus = h('div', { class: 'status', 'aria-live': 'polite' });

/** The line that says what an agent is doing, its button to stop, its suggestions. */
function showSession(node, session, thread) {
  if (!session) return node.replaceChildren();
  const app = world.apps.find((one) => one.id === session.app_id);
  const name = names.user(app?.bot_user_id) ?? app?.name ?? 'The agent';
  const words = session.status || (session.agent_status === 'processing' ? 'is working…' : session.agent_status === 'suspended' ? 'is waiting for somebody' : '');
  const stop = session.can_stop && h('button', { type: 'button', class: 'plain', onclick: () => tried(() => post('/lab/stop', { user: here.user, channel: here.channel, thread_ts: thread })) }, 'Stop');
  const prompts = (session.prompts ?? []).map((prompt) => h('button', { type: 'button', class: 'plain chip', onclick: () => tried(() => post('/lab/message', { user: here.user, channel: here.channel, text: prompt.message ?? prompt.title, thread_ts: thread })) }, prompt.title));
  return node.replaceChildren(
    words ? h('p', {}, h('span', { class: 'dots', 'aria-hidden': true }, '•••'), ` ${name} ${words}`, stop) : '',
    prompts.length > 0 ? h('div', { class: 'prompts' }, session.prompts_title ? h('p', { class: 'dim' }, session.prompts_title) : '', prompts) : '',
  );
}

function draw(jump) {
  keep(at('list'), messages, acts, { inThread: false, jump });
  if (here.thread) keep(at('replies'), replies, acts, { inThread: true, jump });
}

/** What stands where nothing was said yet: where one is, and what one can do. */
function beginning(place) {
  const apart = place?.is_im;
  const app = appIn(place) || listening().find((one) => place?.members?.includes(one.bot_user_id));
  const name = names.user(app?.bot_user_id);
  const opening = app && !apart && app.id === world.apps[0]?.id ? world.opening : undefined;
  const mention = () => { write.set(`@${user(app.bot_user_id).name} ${opening ?? ''}`); write.area.focus(); };
  return h(
    'div', { class: 'empty' },
    apart ? portrait(place.user, at('title').textContent) : h('span', { class: 'mark', 'aria-hidden': true }, place?.is_private ? icon('lock') : '#'),
    h('h2', {}, apart ? at('title').textContent : place?.name ?? ''),
    h('p', {}, apart ? 'This is the beginning of your conversation.' : 'Nothing was said here yet.'),
    app && !apart ? h('button', { type: 'button', class: 'plain', onclick: mention }, `Mention @${user(app.bot_user_id).name}`) : null,
    opening ? h('p', { class: 'note' }, 'A message to begin with: ', h('q', {}, opening)) : null,
    world.plays && app && !apart ? h('button', { type: 'button', class: 'plain', onclick: play.open }, 'Pick another case') : null,
    app?.connected === false ? h('p', { class: 'note' }, `No program speaks for ${name} yet. Start a bot with the variables that `, h('code', {}, 'ghost lab slack'), ' printed.') : null,
  );
}

/** When this page was loaded: private messages from before are gone, as in Slack. */
const LOADED = (Date.now() / 1000).toFixed(6);

/** Tells, once, whether what is new is one's own: that is seen, wherever one was reading. */
function mine(place, list) {
  // An answer may be there by the time that one's own words are read.
  const own = here.wrote === place && list.some((one) => one.user === here.user && one.ts > here.wroteAfter);
  if (own) here.wrote = null;
  return own;
}

async function readChannel(jump) {
  const place = here.channel;
  if (!place) return;
  const answer = await get('/lab/channel', { user: here.user, channel: place, since: LOADED });
  if (place !== here.channel) return;
  messages = answer.messages ?? [];
  keep(at('list'), messages, acts, { inThread: false, jump: jump || mine('channel', messages) });
  if (messages.length === 0) at('list').replaceChildren(beginning(channel(place)));
  showSession(status, answer.session, undefined);
}

async function readThread(jump) {
  const thread = here.thread;
  if (!thread) return;
  const answer = await get('/lab/thread', { user: here.user, channel: here.channel, ts: thread, since: LOADED });
  if (thread !== here.thread) return;
  replies = answer.messages ?? [];
  keep(at('replies'), replies, acts, { inThread: true, jump: jump || mine('thread', replies) });
  showSession(threadStatus, answer.session, thread);
  ahead.textContent = answer.note ?? '';
}

async function readHome(view) {
  const page = at('home');
  const found = view === undefined ? await get('/lab/home', { user: here.user, app: appIn(channel(here.channel))?.id }) : view;
  const body = found?.view === undefined ? found : found.view;
  if (!body?.blocks) return page.replaceChildren(h('div', { class: 'empty' }, portrait(channel(here.channel)?.user, at('title').textContent), h('h2', {}, at('title').textContent), h('p', {}, 'This app has not published a Home tab yet.')));
  const fields = new Map();
  const values = () => { const all = {}; for (const { block, element, read } of fields.values()) (all[block.block_id] ??= {})[element.action_id] = read(); return all; };
  return page.replaceChildren(...drawBlocks(body.blocks, { ...context({ view_id: body.id, values }), fields, kept: () => undefined }));
}

function pane(name) {
  at('app').dataset.pane = name;
}

function openThread(ts, focus) {
  here.thread = ts;
  kept.put(`thread ${here.user}`, ts ?? '');
  at('thread').hidden = !ts;
  empty(at('replies'));
  threadStatus.replaceChildren();
  if (!ts) return pane('main');
  at('where').textContent = at('title').textContent;
  pane('thread');
  reply.again();
  if (focus) reply.area.focus();
  return tried(() => readThread(true));
}

/** Goes to a conversation. */
async function go(id, { quiet = false } = {}) {
  if (here.channel !== id) openThread(null);
  here.channel = id;
  here.unread.delete(id);
  kept.put(`channel ${here.user}`, id);
  const place = channel(id);
  const isBot = Boolean(appIn(place));
  at('title').replaceChildren(...(place?.is_im ? [shown(user(place.user)) ?? 'Somebody'] : [place?.is_private ? icon('lock') : '#', ` ${place?.name ?? id}`]));
  at('topic').replaceChildren(...plain(place?.topic?.value || place?.purpose?.value || (place?.is_ext_shared ? 'Shared with another organization' : '')));
  document.title = `${at('title').textContent} – ${world.team.name ?? 'Local Slack'}`;
  at('tabs').hidden = !isBot;
  at('tabs').replaceChildren(...(isBot ? ['home', 'messages'] : []).map((tab) => h('button', { type: 'button', role: 'tab', 'aria-selected': String(here.tab === tab), onclick: () => turn(tab, true) }, tab === 'home' ? 'Home' : 'Messages')));
  turn(isBot ? here.tab : 'messages', isBot && !quiet);
  write.area.placeholder = `Message ${place?.is_im ? '' : '#'}${place?.is_im ? at('title').textContent : place?.name ?? ''}`;
  write.again();
  empty(at('list'));
  pane('main');
  paint();
  await tried(() => readChannel(true));
  if (!quiet) write.area.focus({ preventScroll: true });
}

function turn(tab, tell) {
  here.tab = tab;
  const home = tab === 'home';
  at('home').hidden = !home;
  at('list').hidden = at('below').hidden = home;
  for (const node of at('tabs').children) node.setAttribute('aria-selected', String((node.textContent === 'Home') === home));
  if (tell) tried(async () => { const answer = await post('/lab/home', { user: here.user, tab, app: appIn(channel(here.channel))?.id }); if (home) await readHome(answer); });
}

const paint = () => sidebar(at('places'), placesOf(world, here, { apps: listening(), shown, user }), { go, direct: (id) => tried(async () => { const answer = await post('/lab/open', { user: here.user, with: id }); await readState(); await go(answer.channel); }) });

async function readState() {
  Object.assign(world, await get('/lab/state', { user: here.user ?? undefined }));
  const people = world.users.filter((one) => !one.is_bot && !one.deleted && one.id !== 'USLACKBOT');
  if (!people.some((one) => one.id === here.user)) {
    here.user = people.find((one) => one.id === kept.get('user'))?.id ?? people[0]?.id ?? null;
    Object.assign(world, await get('/lab/state', { user: here.user }));
  }
  at('team').textContent = world.team?.name ?? 'Local Slack';
  at('play').hidden = !world.plays;
  tour.draw();
  at('who').replaceChildren(...people.map((one) => h('option', { value: one.id, selected: one.id === here.user }, shown(one) + (one.is_restricted ? ' (guest)' : one.is_external || one.is_stranger ? ' (other organization)' : ''))));
  at('me').replaceChildren(portrait(here.user, names.user(here.user)));
  paint();
}

/** Reads everything again: at the start, as somebody else, after the workspace came back. */
async function everything(jump) {
  await readState();
  const wanted = kept.get(`channel ${here.user}`);
  const place = channel(wanted)?.id ?? world.channels.find((one) => !one.is_im && one.is_member !== false)?.id ?? world.channels[0]?.id;
  const thread = jump ? kept.get(`thread ${here.user}`) : null;
  if (jump || here.channel !== place) await go(place, { quiet: true });
  else await readChannel();
  if (thread) await openThread(thread, false);
  else if (here.thread) await readThread();
  await look();
}

let pending = new Set();
let timer = null;

/** Several notices in a row are one reading. */
function noticed(notice) {
  const mine = notice.channel === undefined || notice.channel === here.channel;
  if (notice.kind === 'all') pending.add('all');
  else if (notice.kind === 'view') pending.add('view');
  else if (notice.kind === 'home') pending.add('home');
  else if (['channel', 'sockets', 'state', 'play'].includes(notice.kind)) pending.add('state');
  else if (mine) pending.add('channel');
  if (!mine && notice.kind === 'message' && !here.unread.has(notice.channel)) {
    here.unread.add(notice.channel);
    if (!channel(notice.channel)) pending.add('state');
    paint();
  }
  timer ??= setTimeout(async () => {
    timer = null;
    const what = pending;
    pending = new Set();
    play.again();
    await tried(async () => {
      if (what.has('all')) return everything(false);
      if (what.has('state')) await readState();
      if (what.has('view')) await look();
      if (what.has('home') && here.tab === 'home') await readHome();
      if (what.has('channel') || what.has('state')) await Promise.all([readChannel(), readThread()]);
      return null;
    });
  }, 40);
}

let fresh = true;

function follow() {
  silence?.();
  silence = listen(here.user, noticed, (up) => {
    at('gone').hidden = up;
    at('gone').textContent = up ? '' : 'The workspace is not there. Trying again…';
    document.body.classList.toggle('down', !up);
    // Changes made while nobody listened were not sent: read them, the first time too.
    if (up) tried(() => everything(fresh && !here.channel));
    fresh = false;
  });
}

function theme(next) {
  if (next) kept.put('theme', next);
  document.documentElement.dataset.theme = kept.get('theme') ?? '';
}

async function start() {
  theme();
  at('below').append(status, write.node);
  at('under').append(ahead, threadStatus, reply.node);
  at('theme').onclick = () => {
    const dark = document.documentElement.dataset.theme ? document.documentElement.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
    theme(dark ? 'light' : 'dark');
  };
  at('who').onchange = () => tried(async () => {
    here.user = at('who').value;
    here.channel = null;
    here.unread.clear();
    kept.put('user', here.user);
    modal.take(null);
    follow();
    await everything(true);
  });
  at('play').onclick = () => tried(play.open);
  at('shut').onclick = () => { openThread(null); write.area.focus(); };
  document.querySelectorAll('[data-go]').forEach((node) => { node.onclick = () => pane(node.dataset.go); });
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && here.thread && !document.querySelector('dialog[open], .popup')) { openThread(null); write.area.focus(); }
  });
  arrows(at('list'), (ts) => { const one = messages.find((message) => message.ts === ts); if (one && !one.is_ephemeral) acts.open(one); });
  arrows(at('replies'), () => {});
  here.user = kept.get('user') || null;
  for (;;) {
    try {
      await everything(true);
      break;
    } catch (error) {
      if (!(error instanceof Failure)) console.error(error);
      at('gone').hidden = false;
      at('gone').textContent = 'The workspace is not there. Trying again…';
      await new Promise((resolve) => { setTimeout(resolve, 1000); });
    }
  }
  follow();
}

start();
