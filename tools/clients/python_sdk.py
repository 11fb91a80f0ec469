"""Calls every read method of the Info of the Hyperliquid Python SDK, which it finds by itself."""

import base64
import hashlib
import hmac
import inspect
import json
import os
import secrets
import time

import requests
from hyperliquid.info import Info
from hyperliquid.utils.types import Cloid


class Signed(requests.Session):
    """A session that signs the address of every request, where there is a key."""

    def request(self, method, url, **more):
        key = os.environ.get("ACCESS_KEY")
        if key:
            text = f"AccessKeyId={key}&SignatureNonce={secrets.token_hex(8)}&Timestamp={int(time.time())}"
            digest = hmac.new(os.environ["SECRET_KEY"].encode(), text.encode(), hashlib.sha1).hexdigest()
            more["params"] = {**dict(part.split("=") for part in text.split("&")), "Signature": base64.b64encode(digest.encode()).decode()}
        return super().request(method, url, **more)


requests.Session = Signed  # which the SDK makes one of

USER, SINCE = os.environ["ACCOUNT"], int(os.environ["SINCE"])
VALUES = {
    "address": USER, "user": USER, "multi_sig_user": USER, "name": "BTC", "coin": "BTC", "startTime": SINCE, "start_time": SINCE,
    "endTime": None, "end_time": None, "interval": "1h", "oid": 1, "cloid": Cloid.from_int(1), "dex": "",
}
NOT_READ = {"post", "subscribe", "unsubscribe", "disconnect_websocket", "set_perp_meta", "name_to_asset"}

info = Info(os.environ["BASE"].rstrip("/"), skip_ws=True)
for name, method in inspect.getmembers(info, inspect.ismethod):
    if name.startswith("_") or name in NOT_READ:
        continue
    line = {"method": name}
    try:
        needed = [p for p in inspect.signature(method).parameters.values() if p.default is inspect.Parameter.empty or p.name in ("endTime", "end_time")]
        arguments = {p.name: int(time.time() * 1000) if p.name in ("endTime", "end_time") else VALUES[p.name] for p in needed}
        line["result"] = method(**arguments)
    except Exception as error:  # whatever a method makes of an answer
        line["error"] = f"{type(error).__name__}: {error}"[:300]
    print(json.dumps(line), flush=True)
