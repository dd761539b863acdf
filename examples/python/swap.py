"""
A whole swap: python3 examples/python/swap.py, with the gateway running (npm start).
SWAPGATE_URL and SANDBOX_URL name other places, SWAPGATE_KEY another key.
"""

import json
import os
import sys
import urllib.request
import uuid
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "clients" / "python"))

from swapgate import AssetRefused, Order, RateQuery, SwapClient

sandbox = os.environ.get("SANDBOX_URL", "http://127.0.0.1:9101")
client = SwapClient(os.environ.get("SWAPGATE_URL", "http://127.0.0.1:8080"), os.environ.get("SWAPGATE_KEY", "sandbox-key-1"))
pair: RateQuery = {"coinFrom": "BTC", "coinTo": "USDTTRC20", "amount": "0.1"}

rate = client.rate(pair)
print(f"0.1 BTC is about {rate['amountTo']} USDT; from {rate.get('minAmount')} to {rate.get('maxAmount')} BTC can be swapped")

# Keep the key with your order before you send it: after a crash you ask again with the same one.
key = str(uuid.uuid4())
order: Order = {**pair, "withdrawalAddress": "TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE"}
swap = client.create(order, idempotency_key=key).swap
print(f"created {swap['id']}: please pay {swap['amount']} BTC to {swap['depositAddress']}")

again = client.create(order, idempotency_key=key).swap
print(f"asked again with the same Idempotency-Key: {'the same swap' if again['id'] == swap['id'] else 'ANOTHER SWAP'}")

# With a real provider you send coins; the sandbox is told that they came. urlopen raises for a 4xx.
deposit = json.dumps({"depositAddress": swap["depositAddress"]}).encode()
urllib.request.urlopen(urllib.request.Request(f"{sandbox}/sandbox/deposits", deposit, {"Content-Type": "application/json"}))

client.wait_for(swap["id"], on_change=lambda seen: print(f"status: {seen.swap['status']}"))

page = client.list(size=5)
is_among = any(listed["id"] == swap["id"] for listed in page.data)
print(f"swaps with this key: {page.pagination['total']}; this one is among them: {str(is_among).lower()}")

try:
    client.rate({**pair, "coinTo": "NOBODY"})
except AssetRefused as error:
    print(f"an error: {error.details.status} {error.reason}: {error}")
