"""
A client of swapgate, to copy into your project: this file is all of it. It needs Python 3.9 and the standard library.
It speaks Form A. Amounts are texts with all their digits, in requests and in responses; no float ever holds one.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import hashlib
import hmac
import http.client
import json
import math
import re
import socket
import threading
import time
import uuid
from dataclasses import dataclass
from decimal import Decimal
from http.client import HTTPMessage
from typing import Any, Callable, Dict, Generic, Iterator, List, Literal, Mapping, Optional, Tuple, Type, TypedDict, TypeVar, Union, cast
from urllib.parse import quote, urlencode, urlsplit

# What is sent, and what comes back. Names of fields are those of the API.

Amount = str
"""A decimal number as a text, with the digits of the gateway: Decimal(amount) keeps them."""

AmountToSend = Union[str, Decimal, int]
RateType = Literal["fixed", "float"]

Status = Literal["wait", "confirmation", "confirmed", "exchanging", "sending", "success", "overdue", "refunded"]
"""In their order; `overdue` may still go on, after a late deposit."""


StatusReason = Literal["kyc", "aml", "memo_missing", "wrong_network", "amount_out_of_range", "late_deposit", "address_invalid", "provider_error", "other"]
"""Why a swap does not go on, or was sent back."""


class _Currency(TypedDict):
    code: str  # names the coin and its network: USDTTRC20
    name: str
    icon: str


class Currency(_Currency, total=False):
    network: str
    depositMin: Amount
    depositMax: Amount
    canDeposit: bool  # whether it can be sent at any provider; absent if none says so
    canWithdraw: bool  # whether it can be received at any provider
    fixedRate: bool  # whether it is swapped at a fixed rate at any provider


class _RateQuery(TypedDict):
    coinFrom: str
    coinTo: str


class RateQuery(_RateQuery, total=False):
    amount: AmountToSend  # what is sent; or
    amountTo: AmountToSend  # what is to be received: the answer's amount is then what must be sent for it
    rateType: RateType  # float if you send none


class _Rate(TypedDict):
    coinFrom: str
    coinTo: str
    amount: Amount
    amountTo: Amount
    rateType: RateType


class Rate(_Rate, total=False):
    rate: Amount
    minAmount: Amount
    maxAmount: Amount
    fee: Amount
    quoteId: str  # of a quote that is kept for you: one create with it, before validUntil, has this price
    validUntil: str


class _Order(RateQuery):
    withdrawalAddress: str


class Order(_Order, total=False):
    quoteId: str  # of a quote that is kept for you: all else is as in the quote
    """A swap that is to be created."""

    withdrawalExtraId: Optional[str]  # the memo or tag of that address
    refundAddress: str
    refundExtraId: Optional[str]


class _ListedSwap(TypedDict):
    id: str  # keep it whole: it names the provider, too
    amount: Amount
    createdAt: str


class _More(TypedDict, total=False):
    amountTo: Amount  # an estimate until the swap is complete
    depositExtraId: str  # a deposit without this memo or tag may be lost
    withdrawalExtraId: str
    refundAddress: str
    refundExtraId: str
    updatedAt: str
    rate: Amount
    validUntil: str  # until when the deposit must be sent
    supportUrl: str  # a page of the provider about this swap, or where your user can act


class _Later(TypedDict, total=False):
    attention: str  # that of Seen, in lists too
    statusReason: StatusReason
    refundHash: str  # the transaction that sent the deposit back
    refundAmount: Amount


class _Known(TypedDict, total=False):
    coinFrom: str
    coinTo: str
    depositAddress: str
    withdrawalAddress: str
    rateType: RateType


class ListedSwap(_ListedSwap, _More, _Later, _Known, total=False):
    status: Status


class _Open(TypedDict, total=False):
    capabilities: list[str]  # what can be done about it now, each by a POST to this path below it


class Swap(_ListedSwap, _More, _Later, _Known, _Open):
    status: Status


class CreatedSwap(_ListedSwap, _More):
    status: Status
    coinFrom: str
    coinTo: str
    depositAddress: str
    withdrawalAddress: str
    rateType: RateType


class _PairSide(TypedDict):
    coin: str


class PairSide(_PairSide, total=False):
    """What the gateway knows of one side of a pair."""

    network: str
    decimals: int  # a create with more is refused
    memoNeeded: bool  # whether an address there may need a memo or tag
    addressPattern: str  # every address matches it; a text that matches may still be none


class Directions(TypedDict, total=False):
    forward: bool
    reverse: bool


class _PairRateType(TypedDict):
    rateType: RateType


class PairRateType(_PairRateType, total=False):
    minAmount: Amount
    maxAmount: Amount


# `from` is a word of Python.
Pair = TypedDict("Pair", {"from": PairSide, "to": PairSide, "directions": Directions, "rateTypes": List[PairRateType]})


class _AddressToCheck(TypedDict):
    coin: str  # the code of a coin on its network
    address: str


class AddressToCheck(_AddressToCheck, total=False):
    extraId: Optional[str]  # the memo or tag of the address


class ParameterError(TypedDict):
    field: str  # the name as you sent it; empty for the request as a whole
    reason: str
    message: str


class ProviderRate(Rate):
    provider: str


class FailedRate(TypedDict):
    provider: str
    reason: str
    message: str


class Rates(TypedDict):
    """The quotes of the providers that you may choose, the best first, and which have none."""

    rates: List[ProviderRate]
    failed: List[FailedRate]


class Pagination(TypedDict):
    page: int
    size: int
    total: int


Row = TypeVar("Row")


@dataclass(frozen=True)
class Page(Generic[Row]):
    data: List[Row]
    pagination: Pagination


@dataclass(frozen=True)
class Seen:
    """A swap, and what the gateway knows beside it."""

    swap: Swap
    attention: Optional[str] = None
    """`failed`, `held`, `lost` or `unknown_status`: the provider reported that the swap failed, holds it for a check, does not find it any more, or has a status that nobody knows."""
    stale_seconds: Optional[int] = None
    """The provider cannot be asked now: this was known so many seconds ago."""
    poll_after_seconds: Optional[int] = None
    """After so many seconds it is worth while to ask again."""


@dataclass(frozen=True)
class AddressCheck:
    valid: bool
    errors: List[ParameterError]
    warning: Optional[str] = None
    """`memo_recommended`: the network has memos or tags, and there is none for this address."""


@dataclass(frozen=True)
class Created:
    swap: CreatedSwap
    idempotency_key: str
    """The key that it was created under."""
    is_repeated: bool = False
    """It had been created before, under the same key: this is the first response."""
    newest_status: Optional[str] = None
    """Of a repeated one, if it does not wait for its deposit any more."""
    warning: Optional[str] = None
    """`memo_recommended`: an address is on a network with memos or tags, and the order has none for it. Ask your user first."""


@dataclass(frozen=True)
class SwapEvent:
    """A change of a swap."""

    swap: Optional[Swap]
    """None: a change may have been missed, or could not be read. Read what you need."""
    id: Optional[str] = None
    """Keep it to go on from here: `last_event_id`."""


@dataclass(frozen=True)
class Webhook:
    """What swapgate has sent to you."""

    id: str
    """The same each time that it is sent again: what you have handled under it, ignore."""
    type: str
    """`transaction.updated`, or `webhook.test`, which has no swap."""
    timestamp: str
    """When it changed."""
    swap: Optional[Swap]


# What can go wrong: a class for each thing that a caller may do about it.


@dataclass(frozen=True)
class ErrorDetails:
    reason: Optional[str] = None
    """`X-Swap-Reason`: one of `reasons`, or a newer one. None if something else than the gateway responded, or nothing."""
    status: Optional[int] = None
    """The status of HTTP. None if there was no response."""
    request_id: Optional[str] = None
    """Include it when you report a fault."""
    retry_after: Optional[int] = None
    """Seconds after which the same request may be sent again."""
    errors: Tuple[ParameterError, ...] = ()
    """What is wrong with each parameter."""
    min_amount: Optional[Amount] = None
    """The limits of the pair, where they are known."""
    max_amount: Optional[Amount] = None


class SwapError(Exception):
    """An error of the gateway, or on the way to it."""

    def __init__(self, message: str, details: ErrorDetails = ErrorDetails()):
        super().__init__(message)
        self.details = details

    @property
    def reason(self) -> Optional[str]:
        return self.details.reason


class BadRequest(SwapError):
    """The program has to be changed."""


class AssetRefused(SwapError):
    """Choose another coin, network or pair."""


class AddressRefused(SwapError):
    """An address or memo does not match its network. Ask your user."""


class AmountRefused(SwapError):
    """`details.min_amount` and `details.max_amount` are the limits, where they are known."""


class ProviderRefused(SwapError):
    """The provider refused, and only its message has the cause. Show it to a person."""


class KeyRefused(SwapError):
    pass


class NotFound(SwapError):
    pass


class QuoteExpired(SwapError):
    """The quote of the order does not hold. Request another one, and show its price to your user."""


class KeyReused(SwapError):
    """The Idempotency-Key belongs to another order."""


class Limited(SwapError):
    pass


class Unavailable(SwapError):
    """The gateway or the provider cannot do it now, and nothing was created. Ask later."""


class Mismatch(SwapError):
    """The provider created something else than was ordered. Do not order it again: the operator resolves it."""


class OutcomeUnknown(SwapError):
    """
    The swap may have been created or not. Keep the order and `repeat`, which has the key, and ask again later:
    create(error.order, **error.repeat). Under another key it could be created twice. The details are those of the last try.
    """

    def __init__(self, order: Order, repeat: Dict[str, Any], last: SwapError):
        super().__init__(f"It is not known whether the swap was created: ask again under the same key ({last})", last.details)
        self.order = order
        self.repeat = repeat


@dataclass(frozen=True)
class _Meaning:
    error: Type[SwapError]
    passes: bool = False
    """Whether the same request may be answered otherwise a little later."""
    may_exist: bool = False
    """Whether a create with this answer may have made a swap."""


_unclear = _Meaning(Unavailable, passes=True, may_exist=True)
_unavailable = _Meaning(Unavailable, passes=True)

_meanings: Dict[str, _Meaning] = {
    "path": _Meaning(BadRequest),
    "method": _Meaning(BadRequest),
    "form_conflict": _Meaning(BadRequest),
    "parameter_invalid": _Meaning(BadRequest),
    "parameter_unknown": _Meaning(BadRequest),
    "body_invalid": _Meaning(BadRequest),
    "unknown_asset": _Meaning(AssetRefused),
    "network_required": _Meaning(AssetRefused),
    "network_unknown": _Meaning(AssetRefused),
    "not_offered": _Meaning(AssetRefused),
    "address_invalid": _Meaning(AddressRefused),
    "memo_invalid": _Meaning(AddressRefused),
    "below_minimum": _Meaning(AmountRefused),
    "above_maximum": _Meaning(AmountRefused),
    "refused": _Meaning(ProviderRefused),
    "idempotency_key_missing": _Meaning(BadRequest),
    "key_missing": _Meaning(KeyRefused),
    "key_invalid": _Meaning(KeyRefused),
    "key_scope": _Meaning(KeyRefused),
    "role": _Meaning(KeyRefused),
    "not_found": _Meaning(NotFound),
    "not_open": _Meaning(NotFound),
    "in_progress": _unclear,
    "outcome_unknown": _unclear,
    "quote_expired": _Meaning(QuoteExpired),
    "needs_person": _Meaning(Unavailable, may_exist=True),
    "conflict": _Meaning(BadRequest),
    "key_reused": _Meaning(KeyReused),
    "limited": _Meaning(Limited, passes=True),
    "unverified_limited": _Meaning(Limited, passes=True),
    "too_large": _Meaning(BadRequest),
    "media_type": _Meaning(BadRequest),
    "too_slow": _unavailable,
    "provider_failed": _unavailable,
    "provider_busy": _unavailable,
    "mismatch": _Meaning(Mismatch),
    "timeout": _unclear,
    "overloaded": _unavailable,
    "ledger_unavailable": _unavailable,
    "ledger_restored": _unclear,
    "stopping": _unavailable,
    "internal": _unclear,
}

reasons: Tuple[str, ...] = tuple(_meanings)
"""Every reason that this client knows; a later gateway may have more."""

# 4xx after which a service in front of the gateway may have let the request through.
_unclear_statuses = (408, 409, 423, 424, 425, 499)


def _meaning_of(reason: Optional[str], status: int) -> _Meaning:
    """A reason that is not known, or an answer without one, counts by its status."""
    if reason in _meanings:
        return _meanings[reason]
    if status == 429:
        return _Meaning(Limited, passes=True)
    if status >= 500:
        return _unclear
    return _Meaning(SwapError, may_exist=status < 400 or status in _unclear_statuses)


class _Failure(Exception):
    """One try that failed."""

    def __init__(self, error: SwapError, passes: bool, may_exist: bool):
        super().__init__(str(error))
        self.error = error
        self.passes = passes
        self.may_exist = may_exist


# The client.

_ends = ("success", "refunded", "overdue")
_poll_seconds = 5
_max_silence_seconds = 45
_needed_of_swap = ("id", "status")
_needed_of_created = (*_needed_of_swap, "depositAddress")


def _has_ended(seen: Seen) -> bool:
    return seen.swap["status"] in _ends or seen.attention is not None


def _not_needed(_: Any) -> None:
    return None


class SwapClient:
    """`key` is needed for swaps, not for rates and currencies. One client may be used by several threads."""

    def __init__(self, url: str, key: Optional[str] = None, *, patience_seconds: float = 90, timeout_seconds: float = 30):
        """
        url: where the gateway is, such as https://swap.example
        patience_seconds: for how long one call tries again
        timeout_seconds: for how long it waits for one response
        """
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{url} is no URL of http or https")
        self._is_secure = parts.scheme == "https"
        self._host, self._port = parts.hostname, parts.port
        self._base = parts.path.rstrip("/") + "/a/api/v2"
        self._key = key
        self._patience_seconds = patience_seconds
        self._timeout_seconds = timeout_seconds

    def currencies(self, *, page: int = 1, size: int = 50, search: Optional[str] = None) -> Page[Currency]:
        return _page(self._read("/currencies", {"page": page, "size": size, "search": search})[0])

    def rate(self, query: RateQuery, *, provider: Optional[str] = None, quote_id: bool = False) -> Rate:
        """
        provider: the tag of the one that is to respond, where the operator lets you choose.
        quote_id: a fixed quote is kept for you, with an id for one create; it needs your key
        """
        known = {**query, **_requested_amount(query), **({"quoteId": "true"} if quote_id else {})}
        return self._read("/rate", known, provider)[0]

    def rates(self, query: RateQuery) -> Rates:
        """The quotes of all providers that you may choose with this key."""
        return self._read("/rates", {**query, **_requested_amount(query)})[0]

    def pair(self, coin_from: str, coin_to: str) -> Pair:
        """Both by their codes."""
        return self._read(f"/pairs/{quote(coin_from, safe='')}/{quote(coin_to, safe='')}")[0]

    def check_address(self, question: AddressToCheck) -> AddressCheck:
        checked, headers = self._send("POST", "/addresses/check", self._patience_seconds, json.dumps(question))
        return AddressCheck(checked["valid"], checked["errors"], headers.get("X-Swap-Warning"))

    def get(self, id: str) -> Seen:
        return self._get_within(self._patience_seconds, id)

    def list(
        self, *, page: int = 1, size: int = 20, status: Optional[Status] = None, updated_since: Optional[str] = None
    ) -> Page[ListedSwap]:
        """updated_since: only swaps whose status changed then or later, such as 2026-11-20T10:24:10Z"""
        query = {"page": page, "size": size, "status": status, "updatedSince": updated_since}
        return _page(self._read("/transactions", query)[0])

    def all_currencies(self, search: Optional[str] = None) -> Iterator[Currency]:
        """All coins, page by page."""
        return _rows(lambda page: self.currencies(page=page, size=100, search=search))

    def all(self, *, status: Optional[Status] = None, updated_since: Optional[str] = None) -> Iterator[ListedSwap]:
        """All swaps of the key, page by page. While others are added, a swap may move to the next page and come twice."""
        return _rows(lambda page: self.list(page=page, size=100, status=status, updated_since=updated_since))

    def create(
        self, order: Order, *, idempotency_key: Optional[str] = None, is_repeat: bool = False, provider: Optional[str] = None
    ) -> Created:
        """
        Creates one swap, however often the request has to be sent: always under the same key. It raises OutcomeUnknown if a swap may
        exist, also if a later try was refused or got no connection. Every other error means that there is none, but for Mismatch.

        idempotency_key: one for each swap; keep it with your order before you call, then it survives a crash. Without it there is a new
            one for each call.
        is_repeat: you have called before with this key and do not know what became of it: a refusal now is no proof that there is no
            swap.
        provider: the tag of the one that is to respond, where the operator lets you choose
        """
        key = str(uuid.uuid4()) if idempotency_key is None else idempotency_key
        body = json.dumps({**order, **_requested_amount(order)})
        may_exist = is_repeat

        def on_failure(failure: _Failure) -> None:
            nonlocal may_exist
            may_exist = may_exist or failure.may_exist

        try:
            swap, headers = self._send(
                "POST", "/transactions", self._patience_seconds, body, key, provider, _needed_of_created, on_failure
            )
        except SwapError as error:
            if may_exist and not isinstance(error, Mismatch):
                raise OutcomeUnknown(order, {"idempotency_key": key, "is_repeat": True, "provider": provider}, error) from error
            raise
        is_repeated = headers.get("Idempotent-Replayed") == "true"
        return Created(swap, key, is_repeated, headers.get("X-Swap-Status"), headers.get("X-Swap-Warning"))

    def wait_for(
        self,
        id: str,
        *,
        on_change: Callable[[Seen], Any] = _not_needed,
        until: Callable[[Seen], bool] = _has_ended,
        within_seconds: float = math.inf,
    ) -> Seen:
        """
        Asks as often as the gateway advises, until the swap has ended or needs a person. A gateway that cannot be reached is asked again.

        on_change: called with each status that is new
        until: when to stop; else at success, refunded, overdue, and at any `attention`
        within_seconds: then TimeoutError is raised
        """
        latest = time.monotonic() + within_seconds
        status = None
        while True:
            seen = self._get_within(latest - time.monotonic(), id)
            if seen.swap["status"] != status:
                on_change(seen)
            status = seen.swap["status"]
            if until(seen):
                return seen
            seconds = seen.poll_after_seconds or _poll_seconds
            if time.monotonic() + seconds > latest:
                raise TimeoutError(f"The swap {id} has the status {status} after {within_seconds} seconds")
            _pause(seconds)

    def events(self, swap: Optional[str] = None, *, last_event_id: Optional[str] = None) -> Iterator[SwapEvent]:
        """
        Each change of a swap, with its state of now first, until it has ended; without `swap` those of all your swaps from now on, without
        an end. A connection that breaks is made again, and goes on where it was.

        last_event_id: the `id` of the last event that you have: what came after it is sent first
        """
        path = "/events" if swap is None else f"/transactions/{quote(swap, safe='~')}/events"
        last = last_event_id
        tried = 0
        while True:
            if tried > 0 and swap is None and last is None:
                yield SwapEvent(None)
            try:
                for fields in self._blocks(path, last):
                    if fields is None:
                        return
                    last = fields.get("id") or last
                    event = _event(fields)
                    if event is None:
                        continue
                    tried = 0
                    yield event
            except _Failure as failure:
                if not failure.passes:
                    raise failure.error from failure.error.__cause__
                _pause(failure.error.details.retry_after or 0)
            except (OSError, http.client.HTTPException):
                pass
            _pause(min(30, 0.5 * 2 ** min(tried, 6)))
            tried += 1

    def _blocks(self, path: str, last_event_id: Optional[str]) -> Iterator[Optional[Dict[str, str]]]:
        """None: there are no more."""
        headers = {"Accept": "text/event-stream", "Prefer": "amounts=text"}
        if self._key is not None:
            headers["Authorization"] = f"Bearer {self._key}"
        if last_event_id is not None:
            headers["Last-Event-ID"] = last_event_id
        make = http.client.HTTPSConnection if self._is_secure else http.client.HTTPConnection
        connection = make(self._host, self._port, timeout=_max_silence_seconds)
        try:
            connection.request("GET", self._base + path, None, headers)
            response = connection.getresponse()
            if response.status == 204:
                yield None
                return
            if response.status != 200:
                raise _failure_of(response, response.read())
            fields: Dict[str, str] = {}
            for line in _lines(response):
                name, _, value = line.partition(":")
                if line:
                    fields[name] = value[1:] if value.startswith(" ") else value
                    continue
                yield fields
                fields = {}
        finally:
            connection.close()

    def _get_within(self, patience_seconds: float, id: str) -> Seen:
        return _seen(*self._send("GET", f"/transactions/{quote(id, safe='~')}", patience_seconds, needs=_needed_of_swap))

    def _read(
        self, path: str, query: Mapping[str, Any] = {}, provider: Optional[str] = None
    ) -> Tuple[Any, HTTPMessage]:
        known = urlencode({name: value for name, value in query.items() if value is not None})
        return self._send("GET", f"{path}?{known}" if known else path, self._patience_seconds, provider=provider)

    def _send(
        self,
        method: str,
        path: str,
        patience_seconds: float,
        body: Optional[str] = None,
        idempotency_key: Optional[str] = None,
        provider: Optional[str] = None,
        needs: Tuple[str, ...] = (),
        on_failure: Callable[[_Failure], None] = _not_needed,
    ) -> Tuple[Any, HTTPMessage]:
        """
        Repeats a request that failed for a reason that passes: after Retry-After, or a pause that grows.

        needs: members without which a 2xx is not the gateway's
        """
        headers = {"Prefer": "amounts=text"}
        if self._key is not None:
            headers["Authorization"] = f"Bearer {self._key}"
        if body is not None:
            headers["Content-Type"] = "application/json"
        if idempotency_key is not None:
            headers["Idempotency-Key"] = idempotency_key
        if provider is not None:
            headers["X-Swap-Provider"] = provider
        for name, value in headers.items():
            if not re.fullmatch(r"[ -~]+", value):
                raise ValueError(f"{name} must be visible ASCII")
        latest = time.monotonic() + patience_seconds
        tried = 0
        while True:
            tried += 1
            try:
                return self._send_once(method, path, headers, body, needs)
            except _Failure as failure:
                on_failure(failure)
                seconds = failure.error.details.retry_after or min(8, 0.25 * 2 ** min(tried, 5))
                if not failure.passes or time.monotonic() + seconds > latest:
                    raise failure.error from failure.error.__cause__
            _pause(seconds)

    def _send_once(
        self, method: str, path: str, headers: Mapping[str, str], body: Optional[str], needs: Tuple[str, ...]
    ) -> Tuple[Any, HTTPMessage]:
        make = http.client.HTTPSConnection if self._is_secure else http.client.HTTPConnection
        connection = make(self._host, self._port, timeout=self._timeout_seconds)
        try:
            try:
                connection.connect()
            except OSError as cause:
                raise _no_response(cause, may_exist=False)
            # The timeout of a socket is for each part of a response: a slow one has many.
            timer = threading.Timer(self._timeout_seconds, _end, [connection])
            timer.daemon = True
            timer.start()
            try:
                connection.request(method, self._base + path, None if body is None else body.encode(), dict(headers))
                response = connection.getresponse()
                text = response.read()
            except (OSError, http.client.HTTPException) as cause:
                raise _no_response(cause, may_exist=True)
            finally:
                timer.cancel()
        finally:
            connection.close()
        return _answer(response, text, needs)


def _end(connection: http.client.HTTPConnection) -> None:
    try:
        # Not that of TLS: the thread that reads would find its connection gone.
        socket.socket.shutdown(connection.sock, socket.SHUT_RDWR)
    except (OSError, TypeError):
        pass  # it has ended by itself


def _no_response(cause: Exception, may_exist: bool) -> _Failure:
    error = Unavailable(f"The gateway did not respond: {cause or type(cause).__name__}")
    error.__cause__ = cause
    return _Failure(error, True, may_exist)


# Webhooks (https://www.standardwebhooks.com).


class WebhookRefused(Exception):
    """Swapgate has not signed it, or long ago. Answer with 400."""


def read_webhook(body: bytes, headers: Mapping[str, str], *secrets: str, tolerance_seconds: float = 300) -> Webhook:
    """
    Reads a request that was sent to you.

    body: as it came; one that was parsed and printed again is another one
    secrets: yours (`whsec_...`), and while it is rotated the one before
    """
    sent = {name.lower(): value for name, value in headers.items()}
    id, timestamp = sent.get("webhook-id", ""), sent.get("webhook-timestamp", "")
    if not re.fullmatch("[0-9]{1,15}", timestamp) or abs(time.time() - int(timestamp)) > tolerance_seconds:
        raise WebhookRefused("its time is too long ago, or none")
    signatures = [text[3:] for text in sent.get("webhook-signature", "").split() if text.startswith("v1,")]
    signed = f"{id}.{timestamp}.".encode() + body
    if not any(_is_signature(text, secret, signed) for text in signatures for secret in secrets):
        raise WebhookRefused("no signature of it is that of the secret")
    value = _parse(body)
    return Webhook(id, value["type"], value["timestamp"], None if value["type"] == "webhook.test" else value["data"])


def _is_signature(text: str, secret: str, signed: bytes) -> bool:
    key = base64.b64decode(secret[6:] if secret.startswith("whsec_") else secret)
    try:
        given = base64.b64decode(text, validate=True)
    except binascii.Error:
        return False
    return hmac.compare_digest(given, hmac.new(key, signed, hashlib.sha256).digest())


def _page(body: Any) -> Page[Any]:
    return Page(body["data"], body["pagination"])


def _rows(read: Callable[[int], Page[Row]]) -> Iterator[Row]:
    page = 0
    while True:
        page += 1
        got = read(page)
        yield from got.data
        if not got.data or page * got.pagination["size"] >= got.pagination["total"]:
            return


def _pause(seconds: float) -> None:
    time.sleep(min(seconds, 86_400))


# Reading an answer.

_amount_names = ("amount", "amountTo", "depositMin", "depositMax", "rate", "fee", "minAmount", "maxAmount", "refundAmount")


# No other character ends a line of a stream of events. A CR at the end may be half of one.
_line_end = re.compile(r"\r\n|\n|\r(?!\Z)")


def _lines(response: http.client.HTTPResponse) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    rest = ""
    while part := response.read1(65_536):
        *lines, rest = _line_end.split(rest + decoder.decode(part))
        yield from lines


def _event(fields: Mapping[str, str]) -> Optional[SwapEvent]:
    """None for a comment, an id alone, and an event that this client does not know. One that cannot be read is a gap."""
    name, id = fields.get("event"), fields.get("id")
    if name == "gap":
        return SwapEvent(None, id)
    if name != "transaction":
        return None
    try:
        return SwapEvent(cast(Swap, _parse(fields.get("data", "").encode())), id)
    except ValueError:
        return SwapEvent(None, id)


def _parse(text: bytes) -> Dict[str, Any]:
    """Numbers with a fraction or an exponent become their digits; so do whole ones that are amounts."""
    try:
        value = json.loads(text, parse_float=str, parse_constant=_refuse, object_hook=_with_texts)
    except RecursionError:
        raise ValueError("it is nested too deeply")
    if not isinstance(value, dict):
        raise ValueError("it is no object")
    return value


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is no JSON")


def _with_texts(value: Dict[str, Any]) -> Dict[str, Any]:
    return {name: str(member) if name in _amount_names and isinstance(member, int) else member for name, member in value.items()}


def _answer(response: http.client.HTTPResponse, text: bytes, needs: Tuple[str, ...]) -> Tuple[Any, HTTPMessage]:
    if not 200 <= response.status < 300:
        raise _failure_of(response, text)
    try:
        body = _parse(text)
        missing = [name for name in needs if not isinstance(body.get(name), str)]
        if missing:
            raise ValueError(f"it has no {missing[0]}")
        return body, response.headers
    except ValueError as cause:
        error = Unavailable(f"The gateway's response cannot be read: {cause}", _details(response, {}))
        error.__cause__ = cause
        raise _Failure(error, True, True)


def _failure_of(response: http.client.HTTPResponse, text: bytes) -> _Failure:
    try:
        body = _parse(text)
    except ValueError:
        body = {}  # that of a proxy, probably
    details = _details(response, body)
    meaning = _meaning_of(details.reason, response.status)
    message = body.get("message")
    error = meaning.error(message if isinstance(message, str) else f"{response.status} {response.reason}", details)
    return _Failure(error, meaning.passes, meaning.may_exist)


def _details(response: http.client.HTTPResponse, body: Mapping[str, Any]) -> ErrorDetails:
    errors, least, most = body.get("errors"), body.get("minAmount"), body.get("maxAmount")
    return ErrorDetails(
        reason=response.headers.get("X-Swap-Reason"),
        status=response.status,
        request_id=response.headers.get("X-Request-Id"),
        retry_after=_seconds(response.headers, "Retry-After"),
        errors=tuple(errors) if isinstance(errors, list) else (),
        min_amount=least if isinstance(least, str) else None,
        max_amount=most if isinstance(most, str) else None,
    )


def _seconds(headers: HTTPMessage, name: str) -> Optional[int]:
    text = headers.get(name) or ""
    return int(text) if re.fullmatch("[0-9]{1,9}", text) else None


def _seen(swap: Swap, headers: HTTPMessage) -> Seen:
    return Seen(swap, headers.get("X-Swap-Attention"), _seconds(headers, "X-Swap-Stale"), _seconds(headers, "X-Swap-Poll-After"))


def _requested_amount(query: RateQuery) -> Dict[str, Amount]:
    given = {"amount": query.get("amount"), "amountTo": query.get("amountTo")}
    amounts = {name: _text_of(amount) for name, amount in given.items() if amount is not None}
    if len(amounts) != 1:
        raise TypeError("send either amount or amountTo")
    return amounts


def _text_of(amount: AmountToSend) -> Amount:
    """Before anything is sent. A float would have lost digits already."""
    if isinstance(amount, (float, bool)):
        raise TypeError("an amount must be a text, a Decimal or a whole number: a float loses digits")
    text = str(amount)
    if not re.fullmatch(r"(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?", text):
        raise ValueError(f"{text!r} is no amount: it must be like '0.10'")
    return text
