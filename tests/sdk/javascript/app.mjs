// A small app as its users write them with Slack's SDK for JavaScript: sockets, or with --http requests.
//
// It knows no more of where it runs than the names that `ghost lab slack` prints. Its first line on standard output is
// `ready`, over HTTP with its port; its log goes to standard error.

import bolt from "@slack/bolt";

const { App, LogLevel } = bolt;
const http = process.argv.includes("--http");
const { SLACK_API_URL, SLACK_APP_TOKEN, SLACK_BOT_TOKEN, SLACK_SIGNING_SECRET } = process.env;

let level = LogLevel.DEBUG;
const line = (name) => (...said) => console.error(`${name} ${said.map(String).join(" ")}`);
const logger = {
  debug: line("DEBUG"),
  info: line("INFO"),
  warn: line("WARNING"),
  error: line("ERROR"),
  getLevel: () => level,
  setLevel: (other) => { level = other; },
  setName: () => {},
};

// The events that were seen, and those that were handled.
const seen = new Set();
const handled = new Set();

class Forgetful extends App {
  // Leaves the first attempt of an event unacknowledged where its text asks for that.
  async processEvent(event) {
    const { event: inner, event_id: id } = event.body;
    if (inner?.text?.includes("miss") && !seen.has(id)) {
      seen.add(id);
      return;
    }
    await super.processEvent(event);
  }
}

const app = new Forgetful({
  token: SLACK_BOT_TOKEN,
  clientOptions: { slackApiUrl: SLACK_API_URL },
  logger,
  ...(http ? { signingSecret: SLACK_SIGNING_SECRET } : { socketMode: true, appToken: SLACK_APP_TOKEN }),
});

const plain = (text) => ({ type: "plain_text", text });
const section = (text) => ({ type: "section", text: { type: "mrkdwn", text } });
const button = (action_id, text, more = {}) => ({ type: "button", action_id, text: plain(text), ...more });

app.event("app_mention", async ({ body, event, client, context, say, sayStream, setStatus }) => {
  if (handled.has(body.event_id)) return;
  handled.add(body.event_id);
  const words = event.text.replace(/^<@\w+> /, "");
  const thread_ts = event.thread_ts ?? event.ts;
  if (words.startsWith("restart")) {
    await card(client, event, thread_ts);
  } else if (words.startsWith("look")) {
    await say({ text: await look(client, event), thread_ts });
  } else if (words.startsWith("stream")) {
    await setStatus({ status: "is writing" });
    // Small enough that every part is sent on its own.
    const stream = sayStream({ buffer_size: 1 });
    await stream.append({ markdown_text: "one, " });
    await stream.append({ markdown_text: "two, " });
    await stream.stop({ markdown_text: "three" });
  } else {
    const text = `received ${words} [${context.retryNum ?? 0} ${context.retryReason ?? ""}]`;
    await say({ text, thread_ts });
  }
});

async function card(client, event, thread_ts) {
  const { channel, ts: timestamp, user } = event;
  await client.reactions.add({ channel, timestamp, name: "eyes" });
  const confirm = { title: plain("Sure?"), text: plain("It is down meanwhile."), confirm: plain("Yes"), deny: plain("No") };
  const elements = [
    button("approve", "Approve", { style: "primary", value: "web-1", confirm }),
    button("refuse", "Refuse", { style: "danger", value: "web-1" }),
  ];
  await client.chat.postMessage({
    channel,
    thread_ts,
    text: "Restart web-1?",
    blocks: [section("Restart *web-1*?"), { type: "actions", block_id: "decision", elements }],
    metadata: { event_type: "asked", event_payload: { by: user } },
    unfurl_links: false,
  });
}

// Asks what apps ask to find their way, page by page.
async function look(client, event) {
  const { channel, user } = event;
  await client.api.test();
  await client.team.info();
  const own = await client.auth.test();
  const { bot } = await client.bots.info({ bot: own.bot_id });
  const users = [];
  for await (const page of client.paginate("users.list", { limit: 2 })) users.push(...page.members);
  const channels = [];
  for await (const page of client.paginate("conversations.list", { limit: 2 })) channels.push(...page.channels);
  const { members } = await client.conversations.members({ channel });
  const place = await client.conversations.info({ channel });
  const { messages } = await client.conversations.history({ channel, limit: 1 });
  const who = await client.users.info({ user, include_locale: true });
  const same = await client.users.lookupByEmail({ email: who.user.profile.email });
  const { usergroups } = await client.usergroups.list({ include_users: true });
  const inGroup = await client.usergroups.users.list({ usergroup: usergroups[0].id });
  const thread = await client.conversations.replies({ channel, ts: event.ts });
  const mark = { channel, timestamp: event.ts };
  await client.reactions.add({ ...mark, name: "mag" });
  const marked = await client.reactions.get(mark);
  await client.reactions.remove({ ...mark, name: "mag" });
  const direct = await client.conversations.open({ users: user });
  const note = await client.chat.postMessage({ channel: direct.channel.id, markdown_text: "**You** asked" });
  await client.chat.delete({ channel: direct.channel.id, ts: note.ts });
  let refusal;
  try {
    await client.chat.postMessage({ channel: "C0000000000", text: "Is anybody there?" });
  } catch (error) {
    refusal = error.data.error;
  }
  const pages = users.length > 2 && channels.length > 2 && same.user.id === user;
  const lists = [members, messages, usergroups, inGroup.users, thread.messages, marked.message.reactions];
  const whole = pages && lists.every((list) => list.length > 0);
  const end = whole ? "all there" : "something is missing";
  return `${bot.name} met ${who.user.name} in ${place.channel.name}: ${end}, ${refusal}`;
}

app.action("approve", async ({ ack, body, respond }) => {
  await ack();
  await respond({ replace_original: true, text: `Approved by <@${body.user.id}>`, blocks: [section("Approved")] });
});

function refusal(private_metadata, initial_value) {
  const element = { type: "plain_text_input", action_id: "text", multiline: true, initial_value };
  return {
    type: "modal",
    callback_id: "refusal",
    private_metadata,
    title: plain("Refuse"),
    submit: plain("Send"),
    close: plain("Back"),
    blocks: [
      // Another name for the block, so that the field takes its new beginning.
      { type: "input", block_id: initial_value ? "again" : "why", label: plain("Why?"), element },
      { type: "actions", block_id: "help", elements: [button("example", "An example")] },
    ],
  };
}

app.action("refuse", async ({ ack, body, client }) => {
  await ack();
  const { ts, thread_ts } = body.message;
  const about = JSON.stringify({ channel: body.container.channel_id, ts, thread_ts });
  await client.views.open({ trigger_id: body.trigger_id, view: refusal(about) });
});

app.action("example", async ({ ack, body, client }) => {
  await ack();
  const { id: view_id, hash, private_metadata } = body.view;
  await client.views.update({ view_id, hash, view: refusal(private_metadata, "no") });
});

app.view("refusal", async ({ ack, body, view, client }) => {
  const [block, row] = Object.entries(view.state.values).find(([, row]) => row.text);
  const why = row.text.value;
  if (why.length < 8) {
    await ack({ response_action: "errors", errors: { [block]: "Please say more." } });
    return;
  }
  await ack();
  const { channel, ts, thread_ts } = JSON.parse(view.private_metadata);
  const user = body.user.id;
  const text = `Refused by <@${user}>: ${why}`;
  await client.chat.update({ channel, ts, text, blocks: [section(text)] });
  await client.chat.postEphemeral({ channel, thread_ts, user, text: "Only you see this" });
  await client.filesUploadV2({
    channel_id: channel,
    thread_ts,
    initial_comment: "What was said",
    filename: "refusal.txt",
    title: "Refusal",
    content: why,
  });
});

app.message("ping", async ({ message, say }) => {
  if (!message.subtype) await say({ text: `pong, <@${message.user}>` });
});

app.event("app_home_opened", async ({ event, client }) => {
  const blocks = [section(`Hello <@${event.user}>`), { type: "actions", elements: [button("approve", "All")] }];
  await client.views.publish({ user_id: event.user, view: { type: "home", blocks } });
});

app.command("/ghost", async ({ ack, respond, command }) => {
  if (command.text === "status") {
    await ack("All is well");
  } else {
    await ack();
    await respond({ response_type: "in_channel", text: `${command.command} ${command.text}, for all` });
  }
});

const aboutView = (step) => ({
  type: "modal",
  callback_id: "about",
  private_metadata: step,
  notify_on_close: true,
  title: plain("About"),
  submit: plain("Next"),
  blocks: [section(`Page ${step}`)],
});

app.shortcut("about", async ({ ack, shortcut, client }) => {
  await ack();
  await client.views.open({ trigger_id: shortcut.trigger_id, view: aboutView("1") });
});

// One view on top of another, one in place of another, none any more.
app.view("about", async ({ ack, view }) => {
  if (view.private_metadata === "1") {
    await ack({ response_action: "push", view: aboutView("2") });
  } else if (view.private_metadata === "2") {
    await ack({ response_action: "update", view: aboutView("3") });
  } else {
    await ack({ response_action: "clear" });
  }
});

app.view({ callback_id: "about", type: "view_closed" }, async ({ ack, body, view, client }) => {
  await ack();
  await client.chat.postMessage({ channel: body.user.id, text: `Closed on page ${view.private_metadata}` });
});

app.shortcut("quote", async ({ ack, shortcut, client, say }) => {
  await ack();
  const { message, channel } = shortcut;
  const { permalink } = await client.chat.getPermalink({ channel: channel.id, message_ts: message.ts });
  await say({ text: `> ${message.text}\n<${permalink}>`, thread_ts: message.thread_ts ?? message.ts });
});

if (http) {
  const server = await app.start({ port: 0, host: "127.0.0.1" });
  console.log(`ready ${server.address().port}`);
} else {
  await app.start();
  console.log("ready");
}
