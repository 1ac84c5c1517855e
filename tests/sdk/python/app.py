"""A small app as its users write them with Slack's SDK for Python: sockets, or with --http requests.

It knows no more of where it runs than the names that `ghost lab slack` prints. Its first line on standard output is
`ready`, over HTTP with its port; its log goes to standard error.
"""

import json
import logging
import os
import sys
import threading
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from slack_bolt import App, BoltResponse
from slack_bolt.adapter.socket_mode import SocketModeHandler
from slack_bolt.adapter.wsgi import SlackRequestHandler
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError
from slack_sdk.http_retry.builtin_handlers import RateLimitErrorRetryHandler

logging.basicConfig(level=logging.DEBUG, stream=sys.stderr, format="%(levelname)s %(name)s %(message)s")
# Taken out of the environment, or Bolt warns that it has a token beside the client's.
client = WebClient(token=os.environ.pop("SLACK_BOT_TOKEN"), base_url=os.environ["SLACK_API_URL"])
client.retry_handlers.append(RateLimitErrorRetryHandler(max_retry_count=2))
app = App(client=client, signing_secret=os.environ["SLACK_SIGNING_SECRET"])

# The events that were seen, and those that were handled.
seen, handled, lock = set(), set(), threading.Lock()


def plain(text):
    return {"type": "plain_text", "text": text}


def section(text):
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}


def button(action, text, **more):
    return {"type": "button", "action_id": action, "text": plain(text), **more}


@app.use
def miss(body, next):
    """Leaves the first attempt of an event unacknowledged where its text asks for that."""
    event = body.get("event") or {}
    if "miss" in event.get("text", ""):
        with lock:
            first = body["event_id"] not in seen
            seen.add(body["event_id"])
        if first:
            return BoltResponse(status=503, body="later")
    next()


@app.event("app_mention")
def mentioned(body, event, request, client, say, say_stream, set_status):
    with lock:
        if body["event_id"] in handled:
            return
        handled.add(body["event_id"])
    words = event["text"].split("> ", 1)[-1]
    thread = event.get("thread_ts", event["ts"])
    if words.startswith("restart"):
        card(client, event, thread)
    elif words.startswith("look"):
        say(text=look(client, event), thread_ts=thread)
    elif words.startswith("stream"):
        set_status(status="is writing")
        # Small enough that every part is sent on its own.
        stream = say_stream(buffer_size=1)
        stream.append(markdown_text="one, ")
        stream.append(markdown_text="two, ")
        stream.stop(markdown_text="three")
    else:
        number = request.headers.get("x-slack-retry-num", ["0"])[0]
        reason = request.headers.get("x-slack-retry-reason", [""])[0]
        say(text=f"received {words} [{number} {reason}]", thread_ts=thread)


def card(client, event, thread):
    client.reactions_add(channel=event["channel"], timestamp=event["ts"], name="eyes")
    confirm = {"title": plain("Sure?"), "text": plain("It is down meanwhile."), "confirm": plain("Yes"), "deny": plain("No")}
    buttons = [
        button("approve", "Approve", style="primary", value="web-1", confirm=confirm),
        button("refuse", "Refuse", style="danger", value="web-1"),
    ]
    client.chat_postMessage(
        channel=event["channel"],
        thread_ts=thread,
        text="Restart web-1?",
        blocks=[section("Restart *web-1*?"), {"type": "actions", "block_id": "decision", "elements": buttons}],
        metadata={"event_type": "asked", "event_payload": {"by": event["user"]}},
        unfurl_links=False,
    )


def look(client, event):
    """Asks what apps ask to find their way, page by page."""
    client.api_test()
    client.team_info()
    bot = client.bots_info(bot=client.auth_test()["bot_id"])["bot"]["name"]
    users = [user for page in client.users_list(limit=2) for user in page["members"]]
    channels = [one for page in client.conversations_list(limit=2) for one in page["channels"]]
    members = client.conversations_members(channel=event["channel"])["members"]
    channel = client.conversations_info(channel=event["channel"])["channel"]["name"]
    messages = client.conversations_history(channel=event["channel"], limit=1)["messages"]
    person = client.users_info(user=event["user"], include_locale=True)["user"]
    user_id = client.users_lookupByEmail(email=person["profile"]["email"])["user"]["id"]
    groups = client.usergroups_list(include_users=True)["usergroups"]
    in_group = client.usergroups_users_list(usergroup=groups[0]["id"])["users"]
    thread = client.conversations_replies(channel=event["channel"], ts=event["ts"])["messages"]
    mark = {"channel": event["channel"], "timestamp": event["ts"]}
    client.reactions_add(name="mag", **mark)
    reactions = client.reactions_get(**mark)["message"]["reactions"]
    client.reactions_remove(name="mag", **mark)
    direct = client.conversations_open(users=[event["user"]])["channel"]["id"]
    note = client.chat_postMessage(channel=direct, markdown_text="**You** asked")
    client.chat_delete(channel=direct, ts=note["ts"])
    try:
        client.chat_postMessage(channel="C0000000000", text="Is anybody there?")
    except SlackApiError as error:
        refusal = error.response["error"]
    pages = len(users) > 2 and len(channels) > 2 and user_id == event["user"]
    whole = pages and all([members, messages, groups, in_group, thread, reactions])
    return f"{bot} met {person['name']} in {channel}: {'all there' if whole else 'something is missing'}, {refusal}"


@app.action("approve")
def approve(ack, body, respond):
    ack()
    respond(replace_original=True, text=f"Approved by <@{body['user']['id']}>", blocks=[section("Approved")])


def refusal(about, text=None):
    element = {"type": "plain_text_input", "action_id": "text", "multiline": True}
    if text:
        element["initial_value"] = text
    return {
        "type": "modal",
        "callback_id": "refusal",
        "private_metadata": about,
        "title": plain("Refuse"),
        "submit": plain("Send"),
        "close": plain("Back"),
        "blocks": [
            # Another name for the block, so that the field takes its new beginning.
            {"type": "input", "block_id": "again" if text else "why", "label": plain("Why?"), "element": element},
            {"type": "actions", "block_id": "help", "elements": [button("example", "An example")]},
        ],
    }


@app.action("refuse")
def refuse(ack, body, client):
    ack()
    message, where = body["message"], body["container"]
    about = {"channel": where["channel_id"], "ts": message["ts"], "thread_ts": message["thread_ts"]}
    client.views_open(trigger_id=body["trigger_id"], view=refusal(json.dumps(about)))


@app.action("example")
def example(ack, body, client):
    ack()
    view = body["view"]
    new = refusal(view["private_metadata"], "no")
    client.views_update(view_id=view["id"], hash=view["hash"], view=new)


@app.view("refusal")
def refused(ack, body, view, client):
    block, why = next((block, row["text"]["value"]) for block, row in view["state"]["values"].items() if "text" in row)
    if len(why) < 8:
        ack(response_action="errors", errors={block: "Please say more."})
        return
    ack()
    about, user = json.loads(view["private_metadata"]), body["user"]["id"]
    channel, thread = about["channel"], about["thread_ts"]
    text = f"Refused by <@{user}>: {why}"
    client.chat_update(channel=channel, ts=about["ts"], text=text, blocks=[section(text)])
    client.chat_postEphemeral(channel=channel, thread_ts=thread, user=user, text="Only you see this")
    client.files_upload_v2(
        channel=channel,
        thread_ts=thread,
        initial_comment="What was said",
        filename="refusal.txt",
        title="Refusal",
        content=why,
    )


@app.message("ping")
def ping(message, say):
    say(text=f"pong, <@{message['user']}>")


@app.event("message")
def other():
    """What is said, changed and deleted otherwise needs no answer."""


@app.event("app_home_opened")
def home(event, client):
    blocks = [section(f"Hello <@{event['user']}>"), {"type": "actions", "elements": [button("approve", "All")]}]
    client.views_publish(user_id=event["user"], view={"type": "home", "blocks": blocks})


@app.command("/ghost")
def command(ack, respond, command):
    if command["text"] == "status":
        ack("All is well")
    else:
        ack()
        respond(response_type="in_channel", text=f"{command['command']} {command['text']}, for all")


def about_view(step):
    return {
        "type": "modal",
        "callback_id": "about",
        "private_metadata": step,
        "notify_on_close": True,
        "title": plain("About"),
        "submit": plain("Next"),
        "blocks": [section(f"Page {step}")],
    }


@app.shortcut("about")
def about(ack, shortcut, client):
    ack()
    client.views_open(trigger_id=shortcut["trigger_id"], view=about_view("1"))


@app.view("about")
def next_page(ack, view):
    """One view on top of another, one in place of another, none any more."""
    if view["private_metadata"] == "1":
        ack(response_action="push", view=about_view("2"))
    elif view["private_metadata"] == "2":
        ack(response_action="update", view=about_view("3"))
    else:
        ack(response_action="clear")


@app.view_closed("about")
def closed(ack, body, view, client):
    ack()
    client.chat_postMessage(channel=body["user"]["id"], text=f"Closed on page {view['private_metadata']}")


@app.shortcut("quote")
def quote(ack, shortcut, client, say):
    ack()
    message, channel = shortcut["message"], shortcut["channel"]["id"]
    link = client.chat_getPermalink(channel=channel, message_ts=message["ts"])["permalink"]
    say(text=f"> {message['text']}\n<{link}>", thread_ts=message.get("thread_ts", message["ts"]))


class Server(ThreadingMixIn, WSGIServer):
    """One thread a request: a retry comes while the first attempt may still be open."""

    daemon_threads = True


class Quiet(WSGIRequestHandler):
    def log_message(self, *args):
        pass


if "--http" in sys.argv[1:]:
    server = make_server("127.0.0.1", 0, SlackRequestHandler(app), Server, Quiet)
    print(f"ready {server.server_port}", flush=True)
    server.serve_forever()
else:
    # It notices after five pings in vain that a line was cut; the ten seconds of its own would be a long wait.
    handler = SocketModeHandler(app, os.environ["SLACK_APP_TOKEN"], ping_interval=1)
    handler.connect()
    print("ready", flush=True)
    threading.Event().wait()
