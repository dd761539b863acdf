"""Calls the client as each line of the input says, and prints a line with what came of it."""

import json
import math
import sys
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "clients" / "python"))

import swapgate

names = {
    "idempotency_key": "idempotencyKey",
    "is_repeat": "isRepeat",
    "is_repeated": "isRepeated",
    "newest_status": "newestStatus",
    "stale_seconds": "staleSeconds",
    "poll_after_seconds": "pollAfterSeconds",
    "request_id": "requestId",
    "retry_after": "retryAfter",
    "min_amount": "minAmount",
    "max_amount": "maxAmount",
}


def renamed(values):
    return {names.get(name, name): member for name, member in values.items() if member is not None and member != ()}


def known(value):
    return renamed(asdict(value))


def answer(client, call):
    name = call["name"]
    if name == "reasons":
        return swapgate.reasons
    if name == "rate":
        return client.rate(call["query"])
    if name == "rates":
        return client.rates(call["query"])
    if name == "pair":
        return client.pair(call["from"], call["to"])
    if name == "checkAddress":
        return known(client.check_address(call["question"]))
    if name == "create":
        key, is_repeat, provider = call.get("idempotencyKey"), call.get("isRepeat", False), call.get("provider")
        return known(client.create(call["order"], idempotency_key=key, is_repeat=is_repeat, provider=provider))
    if name == "get":
        return known(client.get(call["id"]))
    if name == "waitFor":
        statuses = []
        within = call.get("withinSeconds", math.inf)
        seen = client.wait_for(call["id"], on_change=lambda seen: statuses.append(seen.swap["status"]), within_seconds=within)
        return {**known(seen), "statuses": statuses}
    if name == "events":
        events = client.events(call.get("swap"), last_event_id=call.get("lastEventId"))
        return [known(event) for _, event in zip(range(call["count"]), events)]
    if name == "readWebhook":
        return known(swapgate.read_webhook(call["body"].encode(), call["headers"], *call["secrets"]))
    if name == "list":
        return known(client.list(page=call["page"], size=call["size"]))
    if name == "all":
        return list(client.all(status=call.get("status"), updated_since=call.get("updatedSince")))
    return list(client.all_currencies(call["search"]))


def result(connection, call):
    options = {"patienceSeconds": "patience_seconds", "timeoutSeconds": "timeout_seconds"}
    try:
        client = swapgate.SwapClient(**{options.get(name, name): value for name, value in connection.items()})
        return {"value": answer(client, call)}
    except swapgate.SwapError as error:
        unknown = {"order": error.order, "repeat": renamed(error.repeat)} if isinstance(error, swapgate.OutcomeUnknown) else {}
        return {"error": {"name": type(error).__name__, "message": str(error), **known(error.details), **unknown}}
    except (TypeError, ValueError, TimeoutError, swapgate.WebhookRefused) as error:
        return {"error": {"name": type(error).__name__, "message": str(error)}}


for line in sys.stdin:
    print(json.dumps(result(**json.loads(line))), flush=True)
