// Draws blocks and attachments.

import { h, out } from './dom.js';
import { widget } from './element.js';
import { safeUrl } from './mrkdwn.js';
import { markdown, mrkdwn, plain, rich, table, text } from './render.js';

/**
 * Draws a list of blocks. `context` is what element.js takes, and: file(id), press(block, element, value), kept(block,
 * element), form (whether inputs wait for a submit), fields (a map that collects what is filled in).
 */
export function drawBlocks(blocks, context) {
  return (Array.isArray(blocks) ? blocks : []).map((block) => {
    const make = BLOCKS[block?.type] ?? unknown;
    const node = make(block ?? {}, context);
    node.classList.add('block');
    return node;
  });
}

const unknown = (block) => h('div', { class: 'unknown' }, `This client does not show blocks of the type ${String(block.type)}.`);

function part(block, element, context, more = {}) {
  const made = widget(element, {
    ...context, ...more, kept: context.kept?.(block, element), act: (used, value) => context.press(block, used, value),
    suggest: (used, query) => context.suggest?.(block, used, query),
  });
  if (context.fields && made.read() !== undefined) context.fields.set(`${block.block_id} ${element.action_id}`, { block, element, read: made.read });
  return made.node;
}

function image(block, context, kind = 'picture') {
  const url = block.slack_file?.id ? context.file(block.slack_file.id) : safeUrl(block.image_url ?? block.slack_file?.url);
  const alt = String(block.alt_text ?? '');
  if (!url) return h('span', { class: 'unknown' }, alt || 'An image without an address');
  const node = h('img', { src: url, alt, class: kind, loading: 'lazy', referrerpolicy: 'no-referrer' });
  node.addEventListener('error', () => node.replaceWith(h('span', { class: 'broken' }, `🖼 ${alt || 'An image that cannot be loaded'}`)));
  return node;
}

function section(block, context) {
  const fields = (block.fields ?? []).map((field) => h('div', {}, text(field, context.names)));
  const beside = block.accessory;
  return h(
    'div', { class: 'section' },
    h('div', { class: 'grow' }, block.text && h('div', { class: 'text' }, text(block.text, context.names)), fields.length > 0 && h('div', { class: 'fields' }, fields)),
    beside && h('div', { class: 'beside' }, beside.type === 'image' ? image(beside, context, 'thumb') : part(block, beside, context)),
  );
}

function input(block, context) {
  const id = `i${Math.random().toString(36).slice(2)}`;
  const wrong = h('p', { class: 'wrong', role: 'alert', id: `${id}w` });
  const hint = block.hint && h('p', { class: 'hint', id: `${id}h` }, plain(block.hint.text));
  const element = block.element ?? {};
  const grouped = ['radio_buttons', 'checkboxes'].includes(element.type);
  const made = part(block, element, context, {
    id, quiet: !block.dispatch_action, describedby: `${id}w${hint ? ` ${id}h` : ''}`, changed: () => wrong.replaceChildren(),
  });
  const title = [plain(block.label?.text), block.optional && h('span', { class: 'optional' }, ' (optional)')];
  const node = h('div', { class: 'input', 'data-block': block.block_id }, grouped ? h('span', { class: 'label', id: `${id}l` }, title) : h('label', { class: 'label', for: id }, title), made, wrong, hint);
  if (grouped) made.setAttribute('aria-labelledby', `${id}l`);
  return node;
}

const actions = (block, context) => h('div', { class: 'actions' }, (block.elements ?? []).map((element) => part(block, element, context)));

function contextual(block, context) {
  return h('div', { class: 'context' }, (block.elements ?? []).map((element) => (element.type === 'image' ? image(element, context, 'tiny') : h('span', {}, text(element, context.names)))));
}

function cell(value, context) {
  return value?.type === 'rich_text' ? rich(value, context.names) : plain(value?.text ?? '');
}

function grid(block, context) {
  const rows = (block.rows ?? []).map((row) => row.map((value) => cell(value, context)));
  const align = (block.column_settings ?? []).map((column) => column?.align);
  return table(rows, align, block.caption);
}

const SIGNS = { pending: '○', in_progress: '◐', complete: '✓', error: '✕' };

function task(block, context) {
  const status = block.status in SIGNS ? block.status : 'pending';
  const body = [block.details, block.output].filter(Boolean).map((one) => h('div', { class: 'dim' }, rich(one, context.names)));
  const sources = (block.sources ?? []).map((source) => safeUrl(source.url) && out(source.url, source.text || source.url)).filter(Boolean);
  return h('div', { class: `task ${status}` }, h('span', { class: 'sign', role: 'img', 'aria-label': status.replace('_', ' ') }, SIGNS[status]), h('div', { class: 'grow' }, h('strong', {}, String(block.title ?? '')), body, sources.length > 0 && h('div', { class: 'sources' }, sources)));
}

function plan(block, context) {
  const tasks = block.tasks ?? [];
  const done = tasks.filter((one) => one.status === 'complete').length;
  return h('details', { class: 'plan', open: true }, h('summary', {}, String(block.title ?? ''), h('small', {}, ` ${done}/${tasks.length}`)), tasks.map((one) => task(one, context)));
}

function card(block, context) {
  const icon = block.icon ? image(block.icon, context, 'tiny') : null;
  return h(
    'div', { class: 'card' }, block.hero_image && image(block.hero_image, context, 'hero'),
    h('div', { class: 'row' }, icon, h('div', {}, block.title && h('strong', {}, text(block.title, context.names)), block.subtitle && h('div', { class: 'dim' }, text(block.subtitle, context.names)))),
    block.body && h('div', {}, text(block.body, context.names)), block.subtext && h('small', {}, text(block.subtext, context.names)),
    block.actions && h('div', { class: 'actions' }, block.actions.map((element) => part(block, element, context))),
  );
}

function container(block, context) {
  const title = [block.icon && image(block.icon, context, 'tiny'), block.rich_text_title ? rich(block.rich_text_title, context.names) : h('strong', {}, text(block.title, context.names)), block.subtitle && h('div', { class: 'dim' }, text(block.subtitle, context.names))];
  const inside = drawBlocks(block.child_blocks, context);
  if (!block.is_collapsible) return h('div', { class: 'container' }, h('div', { class: 'title' }, title), inside);
  return h('details', { class: 'container', open: !block.default_collapsed }, h('summary', {}, title), inside);
}

function chart(block) {
  const { chart: data = {} } = block;
  const points = data.type === 'pie' ? [{ name: '', data: data.segments ?? [] }] : data.series ?? [];
  const names = points.map((series) => series.name);
  const labels = [...new Set(points.flatMap((series) => (series.data ?? []).map((point) => String(point.label))))];
  const most = Math.max(1, ...points.flatMap((series) => (series.data ?? []).map((point) => Math.abs(Number(point.value)) || 0)));
  // Bars in cells say the same as a drawing, and a screen reader can read them.
  const bar = (value) => {
    const fill = h('i', {});
    fill.style.width = `${Math.round((Math.abs(Number(value)) / most) * 100)}%`;
    return h('span', { class: 'bar' }, fill, String(value));
  };
  const rows = labels.map((name) => [name, ...points.map((series) => {
    const point = (series.data ?? []).find((one) => String(one.label) === name);
    return point ? bar(point.value) : '';
  })]);
  return table([[data.axis_config?.x_label ?? '', ...names.map((name) => name || 'Value')], ...rows], [], block.title);
}

const BLOCKS = {
  section, input, actions, context: contextual, context_actions: actions, card, container, plan, task_card: task,
  divider: () => h('hr'),
  header: (block) => h(`h${Math.min(Number(block.level) || 2, 4) + 1}`, { class: 'header' }, plain(block.text?.text)),
  image: (block, context) => h('figure', {}, block.title && h('figcaption', {}, plain(block.title.text)), image(block, context)),
  rich_text: (block, context) => h('div', { class: 'rich' }, rich(block, context.names)),
  markdown: (block, context) => h('div', { class: 'markdown' }, markdown(block.text, context.names)),
  table: grid, data_table: grid, data_visualization: chart,
  carousel: (block, context) => h('div', { class: 'carousel', tabindex: 0 }, drawBlocks(block.elements, context)),
  alert: (block, context) => h('div', { class: `alert ${String(block.level ?? 'default')}`, role: 'note' }, text(block.text, context.names)),
  file: (block) => h('div', { class: 'dim' }, `📎 ${String(block.external_id)}`),
  video: (block) => h('div', { class: 'card' }, safeUrl(block.title_url ?? block.video_url) ? out(block.title_url ?? block.video_url, `▶ ${block.title?.text ?? 'Video'}`) : `▶ ${block.title?.text ?? 'Video'}`, block.description && h('div', { class: 'dim' }, plain(block.description.text))),
};

/** Draws the older additions to a message. */
export function drawAttachments(attachments, context) {
  return (Array.isArray(attachments) ? attachments : []).map((one) => {
    const linked = (words, url) => (safeUrl(url) ? out(url, words) : words);
    const node = h(
      'div', { class: 'attachment' },
      one.blocks ? drawBlocks(one.blocks, context) : [
        one.author_name && h('div', { class: 'dim' }, linked(String(one.author_name), one.author_link)),
        one.title && h('strong', {}, linked(String(one.title), one.title_link)),
        one.text && h('div', {}, mrkdwn(one.text, context.names)),
        one.fields && h('div', { class: 'fields' }, one.fields.map((field) => h('div', {}, h('strong', {}, String(field.title ?? '')), h('br'), mrkdwn(field.value ?? '', context.names)))),
        one.image_url && image({ image_url: one.image_url, alt_text: one.fallback }, context),
        one.footer && h('small', {}, String(one.footer)),
      ],
    );
    const color = { good: '#2eb67d', warning: '#ecb22e', danger: '#e01e5a' }[one.color] ?? one.color;
    if (/^#?[0-9a-f]{3,8}$/i.test(String(color ?? ''))) node.style.borderInlineStartColor = String(color).startsWith('#') ? color : `#${color}`;
    return [one.pretext && h('div', {}, mrkdwn(one.pretext, context.names)), node];
  });
}
