// The list of conversations.

import { h, icon } from './dom.js';
import { portrait } from './message.js';

/** Sorts the conversations of a world into sections. `apps` are those that listen. */
export function placesOf(world, here, { apps, shown, user }) {
  const bots = apps.map((one) => one.bot_user_id);
  const channels = world.channels.filter((one) => !one.is_im && !one.is_mpim && !one.is_archived);
  const direct = world.channels.filter((one) => one.is_im && !bots.includes(one.user));
  const withApp = (bot) => world.channels.find((one) => one.is_im && one.user === bot);
  const row = (one, name, sign) => ({ id: one.id, name, sign, now: one.id === here.channel, unread: here.unread.has(one.id) });
  const byName = (one, other) => one.name.localeCompare(other.name);
  const known = new Set(direct.map((one) => one.user));
  const others = world.users.filter((one) => !one.is_bot && !one.deleted && one.id !== here.user && !known.has(one.id) && one.id !== 'USLACKBOT');
  return [
    { title: 'Channels', rows: channels.map((one) => row(one, one.name, one.is_private ? icon('lock') : '#')).sort(byName) },
    { title: 'Group messages', rows: world.channels.filter((one) => one.is_mpim).map((one) => row(one, one.name, icon('group'))) },
    { title: 'Direct messages', rows: [
      ...direct.map((one) => ({ ...row(one, shown(user(one.user)) ?? one.user), user: one.user })),
      ...others.map((one) => ({ person: one.id, user: one.id, name: shown(one) })),
    ].sort(byName) },
    { title: 'Apps', rows: apps.map(({ bot_user_id: bot, connected }) => {
      const [place, name] = [withApp(bot), shown(user(bot)) ?? 'App'];
      return place ? { ...row(place, name), user: bot, connected } : { person: bot, user: bot, name, connected };
    }) },
  ].filter((section) => section.rows.length > 0);
}

/** Draws them; arrow keys go up and down. */
export function sidebar(node, sections, { go, direct }) {
  const focused = document.activeElement?.dataset?.place;
  node.replaceChildren(...sections.map((section) => h('section', {}, h('h2', {}, section.title), h('ul', {}, section.rows.map((row) => h('li', {}, h(
    'button', {
      type: 'button', class: [row.now && 'now', row.unread && 'unread'].filter(Boolean).join(' ') || null, 'data-place': row.id ?? row.person,
      'aria-current': row.now ? 'page' : null, onclick: () => (row.id ? go(row.id) : direct(row.person)),
    }, row.user ? portrait(row.user, row.name) : h('span', { class: 'sign', 'aria-hidden': true }, row.sign), h('span', { class: 'name', title: row.name }, row.name), row.connected !== undefined && h('small', { class: row.connected ? 'line on' : 'line' }, row.connected ? 'connected' : 'not connected'),
    row.unread && h('span', { class: 'dot', role: 'img', 'aria-label': 'new messages' }),
  )))))));
  node.onkeydown = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    const all = [...node.querySelectorAll('button')];
    all[(all.indexOf(document.activeElement) + step + all.length) % all.length]?.focus();
    event.preventDefault();
  };
  if (focused) [...node.querySelectorAll('button')].find((one) => one.dataset.place === focused)?.focus();
}
