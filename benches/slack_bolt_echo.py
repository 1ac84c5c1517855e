"""The least that a bot on Slack's SDK for Python can be: it answers every mention in its thread, once.

`bot_load` runs it beside `ghost bot`, with the names that `ghost lab slack` prints in the environment.
"""

import os

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


token = os.environ["SLACK_APP_TOKEN"]
SocketModeHandler(app, token, web_client=WebClient(token=token, base_url=url)).start()
