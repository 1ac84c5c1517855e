// A first visit in five steps: what to click, what has just happened, and how to try to fool it.

import { h } from './dom.js';

/** The step after which nothing is left to show. */
const OVER = 'over';

/**
 * Makes the guide. `acts`: get() and put(step) keep where somebody is, ask(text) says something to the app in the channel, reply(text)
 * in the open thread, play(name) begins a case, open() shows the cases and faults, ready() tells whether the demo is there.
 */
export function guide(bar, acts) {
  const steps = [
    {
      title: 'Ask.',
      text: 'Something is wrong in this small cloud, and nobody says to Ghost what. Send the message, and watch the thread on the right.',
      button: 'Send it',
      act: () => acts.ask(),
    },
    {
      title: 'Read the answer.',
      text: 'Ghost read rules, routes and the inside of both machines, and changed nothing. The first line says what is wrong and what to do. Evidence shows the proof. Then ask about it.',
      button: 'Ask why it is not the NSG',
      act: () => acts.reply('why not the NSG?'),
    },
    {
      title: 'Make it ask.',
      text: 'The next case has no setting that explains the fault, so Ghost will want to record packets, and has to ask first.',
      button: 'Play this case',
      act: () => acts.play('w'),
    },
    {
      title: 'Decide.',
      text: 'The card in the thread shows each command that would run. Type “approve”: that is no consent. Then press Approve or Deny.',
      button: 'Decided',
      act: () => true,
    },
    {
      title: 'Try to fool it.',
      text: 'Inject a fault and complain of another one. Press “Fixed, check again” though nothing is fixed. Ask for the weather. Or pick any other case.',
      button: 'Cases and faults',
      act: () => acts.open(),
    },
  ];

  function draw() {
    const kept = acts.get();
    const at = Number(kept) || 0;
    const step = steps[at];
    bar.hidden = !acts.ready() || kept === OVER || !step;
    if (bar.hidden) return bar.replaceChildren();
    const go = (next) => { acts.put(next >= steps.length ? OVER : String(next)); draw(); };
    return bar.replaceChildren(
      h('p', { class: 'grow' }, h('strong', {}, `Three minutes, step ${at + 1} of ${steps.length}: ${step.title} `), step.text),
      h('div', { class: 'row' },
        h('button', { type: 'button', class: 'primary', 'data-tour': 'do', onclick: async () => { if (await step.act() !== false) go(at + 1); } }, step.button),
        h('button', { type: 'button', class: 'plain', 'data-tour': 'next', onclick: () => go(at + 1) }, at + 1 < steps.length ? 'Skip' : 'Done'),
        h('button', { type: 'button', class: 'bare', 'data-tour': 'close', 'aria-label': 'Close the guide', onclick: () => go(steps.length) }, '✕')),
    );
  }

  return { draw };
}
