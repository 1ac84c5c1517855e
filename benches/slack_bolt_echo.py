"""The least that a bot on Slack's SDK for Python can be: it answers every mention in its thread, once.

`bot_load` runs it beside `ghost bot`, with the names that `ghost lab slack` prints in the environment. With `--alerts PORT CHANNEL` it also takes what
Alertmanager sends, and says each group of alerts in the channel, once.
"""

import http.server
import json
import os
import sys
import threading

from slack_bolt import App
from slack_bolt.adapter.socket_mode import SocketModeHandler
from slack_sdk import WebClient

url = os.environ["SLACK_API_URL"]
# Taken out of the environment, or Bolt warns that it has a token beside the client's.
app = App(client=WebClient(token=os.environ.pop("SLACK_BOT_TOKEN"), base_url=url))


@app.event("app_mention")
def mentioned(event, client):
    client.chat_postMessage(channel=event["channel"], thread_ts=event["ts"], text="I am on it.")


@app.event("message")
def heard():
    """Everything else is acknowledged, as every bot has to."""


class Alerts(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    said, lock = set(), threading.Lock()

    def log_message(self, *_):
        pass

    def do_POST(self):
        group = json.loads(self.rfile.read(int(self.headers["content-length"])))
        with self.lock:
            new = "groupKey" in group and group["groupKey"] not in self.said
            if new:
                self.said.add(group["groupKey"])
        if new:
            app.client.chat_postMessage(channel=sys.argv[3], text=group["alerts"][0]["annotations"]["summary"])
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()


if sys.argv[1:2] == ["--alerts"]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Alerts)
    threading.Thread(target=server.serve_forever, daemon=True).start()

token = os.environ["SLACK_APP_TOKEN"]
SocketModeHandler(app, token, web_client=WebClient(token=token, base_url=url)).start()
