/** What a newcomer reads after each mistake (docs/contract.md §6): the status, the reason and the whole sentence, in both forms. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Reason } from '../../src/domain/fault.ts'
import type { ReceivedResponse } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { credential, type FormName, formNames, type Pair, pairWords, rateQuery, startPair } from '../support/pair.ts'
import { assets, swap } from '../support/swaps.ts'

/** The request (method, path and body), and what it gets. Headers in place of the key. A path that begins with `@` is outside of the form's mount. */
type Case = readonly [request: string, status: number, reason: Reason, sentence: string, headers?: Readonly<Record<string, string>>]

const clientKey = 'sentence-client-key-1'
const keyOfA = credential('A', clientKey)
const keyOfB = credential('B', clientKey)
const address = 'TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE'
const amount = 'it must be a number above 0, of at most 64 characters and with an exponent from -40 to 40'

const inFormA: readonly Case[] = [
  [
    'GET /nothing',
    404,
    'path',
    'No such path; below its base path Form A has /currencies, /rate, /transactions, /transactions/{id}, /addresses/check, /pairs/{from}/{to}, /transactions/{id}/events.',
  ],
  [
    'GET /currencies/',
    404,
    'path',
    'No such path; below its base path Form A has /currencies, /rate, /transactions, /transactions/{id}, /addresses/check, /pairs/{from}/{to}, /transactions/{id}/events.',
  ],
  [
    'GET /Rate',
    404,
    'path',
    'No such path; below its base path Form A has /currencies, /rate, /transactions, /transactions/{id}, /addresses/check, /pairs/{from}/{to}, /transactions/{id}/events.',
  ],
  [
    'GET /transactions/a/b',
    404,
    'path',
    'No such path; below its base path Form A has /currencies, /rate, /transactions, /transactions/{id}, /addresses/check, /pairs/{from}/{to}, /transactions/{id}/events.',
  ],
  ['GET ', 404, 'path', 'No such path; the base paths are /a/api/v2, /b/api/v2, /exolix/api/v2, /api/v2.'],
  ['GET @/', 404, 'path', 'No such path; the base paths are /a/api/v2, /b/api/v2, /exolix/api/v2, /api/v2.'],
  ['GET @/api/v1/rate', 404, 'path', 'No such path; the base paths are /a/api/v2, /b/api/v2, /exolix/api/v2, /api/v2.'],
  ['GET @/a', 404, 'path', 'No such path; the base paths are /a/api/v2, /b/api/v2, /exolix/api/v2, /api/v2.'],
  ['GET @/v2/rate', 404, 'path', 'No such path; the base paths are /a/api/v2, /b/api/v2, /exolix/api/v2, /api/v2.'],
  ['DELETE /transactions', 405, 'method', 'This path has POST, GET, HEAD, OPTIONS.'],
  ['POST /rate', 405, 'method', 'This path has GET, HEAD, OPTIONS.'],
  ['PUT /currencies', 405, 'method', 'This path has GET, HEAD, OPTIONS.'],
  ['DELETE /transactions/alpha~tx-1', 405, 'method', 'This path has GET, HEAD, OPTIONS.'],
  ['GET /currencies', 400, 'form_conflict', 'Invalid X-Swap-Form: the path is for Form A.', { ...keyOfA, 'x-swap-form': 'B' }],
  ['GET /currencies', 400, 'form_conflict', 'Invalid X-Swap-Form: it must be A or B or exolix.', { ...keyOfA, 'x-swap-form': 'C' }],
  [
    'GET /transactions',
    400,
    'form_conflict',
    'Two credentials were sent; please send only the one of your form.',
    { ...keyOfA, ...keyOfB },
  ],
  ['GET /transactions', 401, 'key_missing', 'The API key is missing; Form A takes it as Authorization: Bearer <key>.', {}],
  [
    'GET /transactions',
    401,
    'key_missing',
    'The API key is missing; Form A takes it as Authorization: Bearer <key>, and not in X-API-Key.',
    { ...keyOfB },
  ],
  [
    'GET /transactions',
    401,
    'key_invalid',
    'The API key is malformed; Form A takes it as Authorization: Bearer <key>.',
    { authorization: clientKey },
  ],
  [
    'GET /transactions',
    401,
    'key_invalid',
    'The API key is malformed; Form A takes it as Authorization: Bearer <key>.',
    { authorization: '' },
  ],
  [
    `POST /transactions {"coinFrom":"BTC","coinTo":"USDTTRC20","amount":1,"withdrawalAddress":"${address}"}`,
    401,
    'key_missing',
    'The API key is missing; Form A takes it as Authorization: Bearer <key>.',
    {},
  ],
  ['GET /currencies?page=0', 400, 'parameter_invalid', 'Invalid page: it must be an integer from 1.'],
  ['GET /currencies?page=x', 400, 'parameter_invalid', 'Invalid page: it must be an integer from 1.'],
  ['GET /currencies?size=101', 400, 'parameter_invalid', 'Invalid size: it must be an integer from 1 to 100.'],
  ['GET /currencies?size=', 400, 'parameter_invalid', 'Invalid size: it must be an integer from 1 to 100, but it is empty.'],
  [
    'GET /currencies?page=1&&size=2',
    400,
    'parameter_unknown',
    'Invalid request: the query has a parameter without a name, for example between two & in a row.',
  ],
  [
    'GET /currencies?&page=1',
    400,
    'parameter_unknown',
    'Invalid request: the query has a parameter without a name, for example between two & in a row.',
  ],
  [
    'GET /currencies?=5',
    400,
    'parameter_unknown',
    'Invalid request: the query has a parameter without a name, for example between two & in a row.',
  ],
  ['GET /currencies?page=1&page=2', 400, 'parameter_invalid', 'Invalid page: it is given twice.'],
  ['GET /currencies?limit=5', 400, 'parameter_unknown', 'Invalid limit: it is not a parameter here; its name is size.'],
  ['GET /currencies?Page=1', 400, 'parameter_unknown', 'Invalid Page: it is not a parameter here; its name is page.'],
  ['GET /currencies?search=%ZZ', 400, 'parameter_invalid', 'Invalid request: the query must be percent-encoded UTF-8.'],
  ['GET /currencies?search=', 400, 'parameter_invalid', 'Invalid search: it must be a text, but it is empty.'],
  ['GET /currencies?sizes=5', 400, 'parameter_unknown', 'Invalid sizes: it is not a parameter here; the nearest name is size.'],
  [
    'GET /currencies?foo=1',
    400,
    'parameter_unknown',
    'Invalid foo: it is not a parameter here; the parameters are page, size, search.',
  ],
  [
    'GET /currencies?page=0&size=500&foo=1',
    400,
    'parameter_invalid',
    'Invalid page: it must be an integer from 1. Invalid size: it must be an integer from 1 to 100. Invalid foo: it is not a parameter here; the parameters are page, size, search.',
  ],
  [
    'GET /rate',
    400,
    'parameter_invalid',
    'Invalid coinFrom: it is missing. Invalid coinTo: it is missing. Invalid amount: it is missing.',
  ],
  ['GET /rate?coinFrom=BTC&coinTo=USDTTRC20', 400, 'parameter_invalid', 'Invalid amount: it is missing.'],
  ['GET /rate?coinFrom=BTC&amount=1', 400, 'parameter_invalid', 'Invalid coinTo: it is missing.'],
  ['GET /rate?coinFrom=BTC&coinTo=USDTTRC20&amount=0', 400, 'parameter_invalid', `Invalid amount: ${amount}, but it is 0.`],
  ['GET /rate?coinFrom=BTC&coinTo=USDTTRC20&amount=-1', 400, 'parameter_invalid', `Invalid amount: ${amount}, but it is negative.`],
  [
    'GET /rate?coinFrom=BTC&coinTo=USDTTRC20&amount=1,5',
    400,
    'parameter_invalid',
    `Invalid amount: ${amount}, but it has a comma; decimals follow a point, as in 0.5.`,
  ],
  [
    'GET /rate?coinFrom=BTC&coinTo=USDTTRC20&amount=abc',
    400,
    'parameter_invalid',
    `Invalid amount: ${amount}, but it is not a number.`,
  ],
  [
    'GET /rate?coinFrom=BTC&coinTo=USDTTRC20&amount=1e50',
    400,
    'parameter_invalid',
    `Invalid amount: ${amount}, but its exponent is beyond that.`,
  ],
  [
    `GET /rate?coinFrom=BTC&coinTo=USDTTRC20&amount=${'9'.repeat(65)}`,
    400,
    'parameter_invalid',
    `Invalid amount: ${amount}, but it has 65 characters.`,
  ],
  [
    'GET /rate?coinFrom=BTC&coinTo=USDTTRC20&amount=.5',
    400,
    'parameter_invalid',
    `Invalid amount: ${amount}, but it has no digit before the point.`,
  ],
  [
    'GET /rate?coinFrom=BTC&coinTo=USDTTRC20&amount=01',
    400,
    'parameter_invalid',
    `Invalid amount: ${amount}, but it begins with a 0 before another digit.`,
  ],
  ['GET /rate?coinFrom=BTC&coinTo=USDTTRC20&amount=', 400, 'parameter_invalid', `Invalid amount: ${amount}, but it is empty.`],
  [
    'GET /rate?coinFrom=BTC&coinTo=USDTTRC20&amount=NaN',
    400,
    'parameter_invalid',
    `Invalid amount: ${amount}, but it is not a number.`,
  ],
  ['GET /rate?coinFrom=BTC&coinTo=USDTTRC20&amount=0.0', 400, 'parameter_invalid', `Invalid amount: ${amount}, but it is 0.`],
  [
    'GET /rate?coinFrom=BTC&coinTo=USDTTRC20&amount=1&rateType=FIXED',
    400,
    'parameter_invalid',
    'Invalid rateType: it must be fixed or float.',
  ],
  [
    'GET /rate?coinFrom=BTC&coinTo=USDTTRC20&amount=1&rateType=market',
    400,
    'parameter_invalid',
    'Invalid rateType: it must be fixed or float.',
  ],
  [
    'GET /rate?from=BTC&to=ETH&amount=1',
    400,
    'parameter_unknown',
    'Invalid from: it is not a parameter here; its name is coinFrom. Invalid to: it is not a parameter here; its name is coinTo.',
  ],
  [
    'GET /rate?coin_from=BTC&coin_to=ETH&amount=1',
    400,
    'parameter_unknown',
    'Invalid coin_from: it is not a parameter here; its name is coinFrom. Invalid coin_to: it is not a parameter here; its name is coinTo.',
  ],
  [
    'GET /rate?coinFrom=BTC&coinTo=USDTTRC20&fromAmount=1',
    400,
    'parameter_unknown',
    'Invalid fromAmount: it is not a parameter here; its name is amount.',
  ],
  [
    'GET /rate?coinFrom=BTC&coinTo=USDTTRC20&amount_in=1',
    400,
    'parameter_unknown',
    'Invalid amount_in: it is not a parameter here; its name is amount.',
  ],
  [
    'GET /rate?coinFrom=BTC&coinTo=USDTTRC20&amount=1&networkFrom=BTC',
    400,
    'parameter_unknown',
    'Invalid networkFrom: it is not a parameter here; coinFrom has the network in its code, such as USDTTRC20.',
  ],
  [
    'GET /rate?coinFrom=BTC&coinTo=USDTTRC20&ammount=2',
    400,
    'parameter_unknown',
    'Invalid ammount: it is not a parameter here; the nearest name is amount.',
  ],
  [
    'GET /rate?coinFrom=NOBODY&coinTo=USDTTRC20&amount=1',
    400,
    'unknown_asset',
    'Invalid coinFrom: NOBODY is not a coin that can be swapped here.',
  ],
  [
    'GET /rate?coinFrom=BTX&coinTo=USDTTRC20&amount=1',
    400,
    'unknown_asset',
    'Invalid coinFrom: BTX is not a coin that can be swapped here; the nearest name is BTC.',
  ],
  [
    'GET /rate?coinFrom=BTC&coinTo=USDT&amount=1',
    400,
    'unknown_asset',
    'Invalid coinTo: USDT is not a coin that can be swapped here: its codes are USDTTRC20, USDTERC20.',
  ],
  [
    'GET /rate?coinFrom=&coinTo=USDTTRC20&amount=1',
    400,
    'parameter_invalid',
    'Invalid coinFrom: it must be a text, but it is empty.',
  ],
  [
    'GET /rate?coinFrom=%3Cscript%3E&coinTo=USDTTRC20&amount=1',
    400,
    'unknown_asset',
    'Invalid coinFrom: it is not a coin that can be swapped here.',
  ],
  [
    'GET /rate?coinFrom=BTC&coinTo=BTC&amount=1',
    400,
    'parameter_invalid',
    'Invalid coinTo: it must be another asset than the one that is paid.',
  ],
  ['POST /transactions ', 400, 'body_invalid', 'The body must be a JSON object, but it is empty.'],
  ['POST /transactions nonsense', 400, 'body_invalid', 'The body must be a JSON object: not JSON at position 0.'],
  ['POST /transactions {"coinFrom":', 400, 'body_invalid', 'The body must be a JSON object: not JSON at position 12.'],
  ['POST /transactions []', 400, 'body_invalid', 'Invalid request: the body must be a JSON object, but it is a list.'],
  ['POST /transactions null', 400, 'body_invalid', 'Invalid request: the body must be a JSON object, but it is null.'],
  ['POST /transactions "x"', 400, 'body_invalid', 'Invalid request: the body must be a JSON object, but it is a text.'],
  [
    'POST /transactions {}',
    400,
    'parameter_invalid',
    'Invalid coinFrom: it is missing. Invalid coinTo: it is missing. Invalid amount: it is missing. Invalid withdrawalAddress: it is missing.',
  ],
  [
    'POST /transactions {"amount":1,"amount":2}',
    400,
    'body_invalid',
    'The body must be a JSON object: duplicate key at position 20.',
  ],
  ['POST /transactions {"amount":1,}', 400, 'body_invalid', 'The body must be a JSON object: not JSON at position 12.'],
  ["POST /transactions {'amount':1}", 400, 'body_invalid', 'The body must be a JSON object: not JSON at position 1.'],
  [
    `POST /transactions {"coinFrom":"BTC","coinTo":"USDTTRC20","withdrawalAddress":"${address}"}`,
    400,
    'parameter_invalid',
    'Invalid amount: it is missing.',
  ],
  [
    'POST /transactions {"coinFrom":"BTC","coinTo":"USDTTRC20","amount":1}',
    400,
    'parameter_invalid',
    'Invalid withdrawalAddress: it is missing.',
  ],
  [
    `POST /transactions {"coinFrom":"BTC","coinTo":"USDTTRC20","amount":true,"withdrawalAddress":"${address}"}`,
    400,
    'parameter_invalid',
    `Invalid amount: ${amount}, but it is true.`,
  ],
  [
    `POST /transactions {"coinFrom":"BTC","coinTo":"USDTTRC20","amount":null,"withdrawalAddress":"${address}"}`,
    400,
    'parameter_invalid',
    `Invalid amount: ${amount}, but it is null.`,
  ],
  [
    `POST /transactions {"coinFrom":"BTC","coinTo":"USDTTRC20","amount":[1],"withdrawalAddress":"${address}"}`,
    400,
    'parameter_invalid',
    `Invalid amount: ${amount}, but it is a list.`,
  ],
  [
    `POST /transactions {"coinFrom":"BTC","coinTo":"USDTTRC20","amount":{"value":1},"withdrawalAddress":"${address}"}`,
    400,
    'parameter_invalid',
    `Invalid amount: ${amount}, but it is an object.`,
  ],
  [
    `POST /transactions {"coinFrom":"BTC","coinTo":"USDTTRC20","amount":"ten","withdrawalAddress":"${address}"}`,
    400,
    'parameter_invalid',
    `Invalid amount: ${amount}, but it is not a number.`,
  ],
  [
    `POST /transactions {"coinFrom":"BTC","coinTo":"USDTTRC20","amount":0,"withdrawalAddress":"${address}"}`,
    400,
    'parameter_invalid',
    `Invalid amount: ${amount}, but it is 0.`,
  ],
  [
    `POST /transactions {"coinFrom":"BTC","coinTo":"USDTTRC20","amount":"1,5","withdrawalAddress":"${address}"}`,
    400,
    'parameter_invalid',
    `Invalid amount: ${amount}, but it has a comma; decimals follow a point, as in 0.5.`,
  ],
  [
    `POST /transactions {"coinFrom":"BTC","coinTo":"USDTTRC20","amount":-1,"withdrawalAddress":"${address}"}`,
    400,
    'parameter_invalid',
    `Invalid amount: ${amount}, but it is negative.`,
  ],
  [
    'POST /transactions {"coinFrom":"BTC","coinTo":"USDTTRC20","amount":1,"withdrawalAddress":5}',
    400,
    'address_invalid',
    'Invalid withdrawalAddress: it must be an address of 1 to 256 ASCII characters without spaces, but it is a number; please put it in quotes.',
  ],
  [
    'POST /transactions {"coinFrom":"BTC","coinTo":"USDTTRC20","amount":1,"withdrawalAddress":""}',
    400,
    'address_invalid',
    'Invalid withdrawalAddress: it must be an address of 1 to 256 ASCII characters without spaces, but it is empty.',
  ],
  [
    'POST /transactions {"coinFrom":"BTC","coinTo":"USDTTRC20","amount":1,"withdrawalAddress":"a b"}',
    400,
    'address_invalid',
    'Invalid withdrawalAddress: it must be an address of 1 to 256 ASCII characters without spaces.',
  ],
  [
    'POST /transactions {"coinFrom":"BTC","coinTo":"USDTTRC20","amount":1,"withdrawalAddress":null}',
    400,
    'address_invalid',
    'Invalid withdrawalAddress: it must be an address of 1 to 256 ASCII characters without spaces, but it is null.',
  ],
  [
    `POST /transactions {"coinFrom":"BTC","coinTo":"USDTTRC20","amount":1,"withdrawalAddress":"${address}","withdrawalExtraId":7}`,
    400,
    'memo_invalid',
    'Invalid withdrawalExtraId: it must be a text of at most 1000 characters without control characters, but it is a number; please put it in quotes.',
  ],
  [
    `POST /transactions {"coinFrom":"BTC","coinTo":"USDTTRC20","amount":1,"withdrawalAddress":"${address}","withdrawalExtraId":"a\\nb"}`,
    400,
    'memo_invalid',
    'Invalid withdrawalExtraId: it must be a text of at most 1000 characters without control characters.',
  ],
  [
    `POST /transactions {"coinFrom":"BTC","coinTo":"USDTTRC20","amount":1,"withdrawalAddress":"${address}","withdrawalExtraId":"12"}`,
    400,
    'memo_invalid',
    'Invalid withdrawalExtraId: extra ids are not supported here, and one that is lost loses the funds.',
  ],
  [
    `POST /transactions {"coinFrom":"BTC","coinTo":"USDTTRC20","amount":1,"withdrawalAddress":"${address}","rateType":1}`,
    400,
    'parameter_invalid',
    'Invalid rateType: it must be fixed or float, but it is a number.',
  ],
  [
    `POST /transactions {"coinFrom":"BTC","coinTo":"USDTTRC20","amount":1,"withdrawalAddress":"${address}","rateType":"Float"}`,
    400,
    'parameter_invalid',
    'Invalid rateType: it must be fixed or float.',
  ],
  [
    `POST /transactions {"coinFrom":5,"coinTo":"USDTTRC20","amount":1,"withdrawalAddress":"${address}"}`,
    400,
    'parameter_invalid',
    'Invalid coinFrom: it must be a text, but it is a number; please put it in quotes.',
  ],
  [
    `POST /transactions {"coinTo":"USDTTRC20","amount":1,"withdrawalAddress":"${address}","coin_from":"BTC"}`,
    400,
    'parameter_unknown',
    'Invalid coin_from: it is not a parameter here; its name is coinFrom.',
  ],
  [
    `POST /transactions {"coinFrom":"BTC","coinTo":"USDTTRC20","amount":1,"withdrawal_address":"${address}"}`,
    400,
    'parameter_unknown',
    'Invalid withdrawal_address: it is not a parameter here; its name is withdrawalAddress.',
  ],
  [
    `POST /transactions {"coinFrom":"BTC","coinTo":"USDTTRC20","amount":1,"address":"${address}"}`,
    400,
    'parameter_unknown',
    'Invalid address: it is not a parameter here; its name is withdrawalAddress.',
  ],
  [
    `POST /transactions {"coinFrom":"BTC","coinTo":"USDTTRC20","amount":1,"withdrawalAddress":"${address}","memo":"1"}`,
    400,
    'parameter_unknown',
    'Invalid memo: it is not a parameter here; its name is withdrawalExtraId.',
  ],
  [
    `POST /transactions {"coinFrom":"BTC","coinTo":"USDTTRC20","amount":1,"withdrawalAddress":"${address}","comment":"hi"}`,
    400,
    'parameter_unknown',
    'Invalid comment: it is not a parameter here; the parameters are coinFrom, coinTo, amount, amountTo, withdrawalAddress, withdrawalExtraId, refundAddress, refundExtraId, rateType, quoteId.',
  ],
  [
    `POST /transactions?amount=1 {"coinFrom":"BTC","coinTo":"USDTTRC20","amount":1,"withdrawalAddress":"${address}"}`,
    400,
    'parameter_unknown',
    'Invalid amount: it is not a parameter here; it belongs in the JSON body.',
  ],
  [
    `POST /transactions?foo=1 {"coinFrom":"BTC","coinTo":"USDTTRC20","amount":1,"withdrawalAddress":"${address}"}`,
    400,
    'parameter_unknown',
    'Invalid foo: it is not a parameter here; there are none.',
  ],
  [
    `POST /transactions {"coinFrom":"BTC","amount":"x","withdrawalAddress":"${address}","rateType":"x","foo":1}`,
    400,
    'parameter_invalid',
    `Invalid amount: ${amount}, but it is not a number. Invalid rateType: it must be fixed or float. Invalid foo: it is not a parameter here; the parameters are coinFrom, coinTo, amount, amountTo, withdrawalAddress, withdrawalExtraId, refundAddress, refundExtraId, rateType, quoteId. Invalid coinTo: it is missing.`,
  ],
  [
    `POST /transactions {"coinFrom":"BTC","coinTo":"USDTTRC20","amount":1,"withdrawalAddress":"${address}","networkTo":"TRX"}`,
    400,
    'parameter_unknown',
    'Invalid networkTo: it is not a parameter here; coinTo has the network in its code, such as USDTTRC20.',
  ],
  [
    `POST /transactions {"coinFrom":"BTC","coinTo":"NOBODY","amount":1,"withdrawalAddress":"${address}"}`,
    400,
    'unknown_asset',
    'Invalid coinTo: NOBODY is not a coin that can be swapped here.',
  ],
  [
    `POST /transactions {"coinFrom":"BTC","coinTo":"USDT","amount":1,"withdrawalAddress":"${address}"}`,
    400,
    'unknown_asset',
    'Invalid coinTo: USDT is not a coin that can be swapped here: its codes are USDTTRC20, USDTERC20.',
  ],
  [
    `POST /transactions {"coinFrom":"BTC","coinTo":"USDTTRC20","amount":1,"withdrawalAddress":"${address}"}`,
    415,
    'media_type',
    'The body must be sent once as content-type application/json in UTF-8.',
    { ...keyOfA, 'content-type': 'text/plain' },
  ],
  [`POST /transactions {"x":"${'y'.repeat(20_000)}"}`, 413, 'too_large', 'The body must have at most 16384 bytes.'],
  [
    `POST /transactions {"coinFrom":"BTC","coinTo":"USDTTRC20","amount":1,"withdrawalAddress":"${address}"}`,
    400,
    'parameter_invalid',
    'Invalid Idempotency-Key: it must be sent once, as 1 to 255 visible ASCII characters, in quotes or without.',
    { ...keyOfA, 'idempotency-key': 'a b' },
  ],
  [
    `POST /transactions {"coinFrom":"BTC","coinTo":"USDTTRC20","amount":1,"withdrawalAddress":"${address}"}`,
    400,
    'parameter_invalid',
    'Invalid Idempotency-Key: it must be sent once, as 1 to 255 visible ASCII characters, in quotes or without.',
    { ...keyOfA, 'idempotency-key': '' },
  ],
  [`GET /currencies?search=${'x'.repeat(9_000)}`, 414, 'too_large', 'The path and query must have at most 8192 characters.'],
  ['GET /currencies', 417, 'parameter_invalid', 'Only Expect: 100-continue is understood.', { ...keyOfA, expect: 'a-miracle' }],
  [
    'GET /transactions?dateFrom=yesterday',
    400,
    'parameter_unknown',
    'Invalid dateFrom: it is not a parameter here; the parameters are page, size, status, updatedSince.',
  ],
  [
    'GET /transactions?dateFrom=2026-02-01&dateTo=2026-01-01',
    400,
    'parameter_unknown',
    'Invalid dateFrom: it is not a parameter here; the parameters are page, size, status, updatedSince. Invalid dateTo: it is not a parameter here; the parameters are page, size, status, updatedSince.',
  ],
  ['GET /transactions?size=1000', 400, 'parameter_invalid', 'Invalid size: it must be an integer from 1 to 100.'],
  [
    'GET /transactions?state=done&updated=2026-01-01',
    400,
    'parameter_unknown',
    'Invalid state: it is not a parameter here; its name is status. Invalid updated: it is not a parameter here; the parameters are page, size, status, updatedSince.',
  ],
  [
    'GET /transactions?status=done&updatedSince=yesterday',
    400,
    'parameter_invalid',
    'Invalid status: it must be one of wait, confirmation, confirmed, exchanging, sending, success, overdue, refunded. Invalid updatedSince: it must be an RFC 3339 timestamp with a zone, or a date YYYY-MM-DD.',
  ],
  [
    'GET /transactions?date_from=2026-01-01',
    400,
    'parameter_unknown',
    'Invalid date_from: it is not a parameter here; the parameters are page, size, status, updatedSince.',
  ],
  ['GET /transactions/alpha~missing', 404, 'not_found', 'Transaction not found'],
  ['GET /transactions/xyz', 404, 'not_found', 'Transaction not found.'],
  [
    'GET /transactions/alpha~tx-1?verbose=1',
    400,
    'parameter_unknown',
    'Invalid verbose: it is not a parameter here; there are none.',
  ],
  [
    'GET /rate?x&x&',
    400,
    'parameter_unknown',
    'Invalid x: it is not a parameter here; the parameters are coinFrom, coinTo, amount, amountTo, rateType, quoteId. Invalid request: the query has a parameter without a name, for example between two & in a row. Invalid coinFrom: it is missing. Invalid coinTo: it is missing. Invalid amount: it is missing.',
  ],
]

const inFormB: readonly Case[] = [
  [
    'GET /nothing',
    404,
    'path',
    'No such path; below its base path Form B has /currencies, /rate, /transactions, /transactions/{id}, /addresses/check, /pairs/{from}/{to}, /transactions/{id}/events.',
  ],
  [
    'GET /currencies/',
    404,
    'path',
    'No such path; below its base path Form B has /currencies, /rate, /transactions, /transactions/{id}, /addresses/check, /pairs/{from}/{to}, /transactions/{id}/events.',
  ],
  [
    'GET /Rate',
    404,
    'path',
    'No such path; below its base path Form B has /currencies, /rate, /transactions, /transactions/{id}, /addresses/check, /pairs/{from}/{to}, /transactions/{id}/events.',
  ],
  [
    'GET /transactions/a/b',
    404,
    'path',
    'No such path; below its base path Form B has /currencies, /rate, /transactions, /transactions/{id}, /addresses/check, /pairs/{from}/{to}, /transactions/{id}/events.',
  ],
  ['GET ', 404, 'path', 'No such path; the base paths are /a/api/v2, /b/api/v2, /exolix/api/v2, /api/v2.'],
  ['GET @/', 404, 'path', 'No such path; the base paths are /a/api/v2, /b/api/v2, /exolix/api/v2, /api/v2.'],
  ['GET @/api/v1/rate', 404, 'path', 'No such path; the base paths are /a/api/v2, /b/api/v2, /exolix/api/v2, /api/v2.'],
  ['GET @/b', 404, 'path', 'No such path; the base paths are /a/api/v2, /b/api/v2, /exolix/api/v2, /api/v2.'],
  ['GET @/v2/rate', 404, 'path', 'No such path; the base paths are /a/api/v2, /b/api/v2, /exolix/api/v2, /api/v2.'],
  ['DELETE /transactions', 405, 'method', 'This path has POST, GET, HEAD, OPTIONS.'],
  ['POST /rate', 405, 'method', 'This path has GET, HEAD, OPTIONS.'],
  ['PUT /currencies', 405, 'method', 'This path has GET, HEAD, OPTIONS.'],
  ['DELETE /transactions/alpha~tx-1', 405, 'method', 'This path has GET, HEAD, OPTIONS.'],
  ['GET /currencies', 400, 'form_conflict', 'Invalid X-Swap-Form: the path is for Form B.', { ...keyOfB, 'x-swap-form': 'A' }],
  ['GET /currencies', 400, 'form_conflict', 'Invalid X-Swap-Form: it must be A or B or exolix.', { ...keyOfB, 'x-swap-form': 'C' }],
  [
    'GET /transactions',
    400,
    'form_conflict',
    'Two credentials were sent; please send only the one of your form.',
    { ...keyOfB, ...keyOfA },
  ],
  ['GET /transactions', 401, 'key_missing', 'The API key is missing; Form B takes it as X-API-Key: <key>.', {}],
  [
    'GET /transactions',
    401,
    'key_missing',
    'The API key is missing; Form B takes it as X-API-Key: <key>, and not in Authorization.',
    { ...keyOfA },
  ],
  [
    'GET /transactions',
    401,
    'key_invalid',
    'The API key is malformed; Form B takes it as X-API-Key: <key>.',
    { 'x-api-key': 'a b' },
  ],
  ['GET /transactions', 401, 'key_invalid', 'The API key is malformed; Form B takes it as X-API-Key: <key>.', { 'x-api-key': '' }],
  [
    `POST /transactions {"coinFrom":"BTC","networkFrom":"BTC","coinTo":"USDT","networkTo":"TRX","amount":1,"withdrawalAddress":"${address}"}`,
    401,
    'key_missing',
    'The API key is missing; Form B takes it as X-API-Key: <key>.',
    {},
  ],
  ['GET /currencies?page=0', 400, 'parameter_invalid', 'Invalid page: it must be an integer from 1.'],
  ['GET /currencies?page=x', 400, 'parameter_invalid', 'Invalid page: it must be an integer from 1.'],
  ['GET /currencies?size=101', 400, 'parameter_invalid', 'Invalid size: it must be an integer from 1 to 100.'],
  ['GET /currencies?size=', 400, 'parameter_invalid', 'Invalid size: it must be an integer from 1 to 100, but it is empty.'],
  [
    'GET /currencies?page=1&&size=2',
    400,
    'parameter_unknown',
    'Invalid request: the query has a parameter without a name, for example between two & in a row.',
  ],
  [
    'GET /currencies?&page=1',
    400,
    'parameter_unknown',
    'Invalid request: the query has a parameter without a name, for example between two & in a row.',
  ],
  [
    'GET /currencies?=5',
    400,
    'parameter_unknown',
    'Invalid request: the query has a parameter without a name, for example between two & in a row.',
  ],
  ['GET /currencies?page=1&page=2', 400, 'parameter_invalid', 'Invalid page: it is given twice.'],
  ['GET /currencies?limit=5', 400, 'parameter_unknown', 'Invalid limit: it is not a parameter here; its name is size.'],
  ['GET /currencies?Page=1', 400, 'parameter_unknown', 'Invalid Page: it is not a parameter here; its name is page.'],
  ['GET /currencies?search=%ZZ', 400, 'parameter_invalid', 'Invalid request: the query must be percent-encoded UTF-8.'],
  ['GET /currencies?search=', 400, 'parameter_invalid', 'Invalid search: it must be a text, but it is empty.'],
  ['GET /currencies?sizes=5', 400, 'parameter_unknown', 'Invalid sizes: it is not a parameter here; the nearest name is size.'],
  [
    'GET /currencies?foo=1',
    400,
    'parameter_unknown',
    'Invalid foo: it is not a parameter here; the parameters are page, size, search.',
  ],
  [
    'GET /currencies?page=0&size=500&foo=1',
    400,
    'parameter_invalid',
    'Invalid page: it must be an integer from 1. Invalid size: it must be an integer from 1 to 100. Invalid foo: it is not a parameter here; the parameters are page, size, search.',
  ],
  [
    'GET /rate',
    400,
    'parameter_invalid',
    'Invalid coinFrom: it is missing. Invalid coinTo: it is missing. Invalid amount: it is missing.',
  ],
  ['GET /rate?coinFrom=BTC&networkFrom=BTC&coinTo=USDT&networkTo=TRX', 400, 'parameter_invalid', 'Invalid amount: it is missing.'],
  ['GET /rate?coinFrom=BTC&networkFrom=BTC&networkTo=TRX&amount=1', 400, 'parameter_invalid', 'Invalid coinTo: it is missing.'],
  [
    'GET /rate?coinFrom=BTC&networkFrom=BTC&coinTo=USDT&networkTo=TRX&amount=0',
    400,
    'parameter_invalid',
    `Invalid amount: ${amount}, but it is 0.`,
  ],
  [
    'GET /rate?coinFrom=BTC&networkFrom=BTC&coinTo=USDT&networkTo=TRX&amount=-1',
    400,
    'parameter_invalid',
    `Invalid amount: ${amount}, but it is negative.`,
  ],
  [
    'GET /rate?coinFrom=BTC&networkFrom=BTC&coinTo=USDT&networkTo=TRX&amount=1,5',
    400,
    'parameter_invalid',
    `Invalid amount: ${amount}, but it has a comma; decimals follow a point, as in 0.5.`,
  ],
  [
    'GET /rate?coinFrom=BTC&networkFrom=BTC&coinTo=USDT&networkTo=TRX&amount=abc',
    400,
    'parameter_invalid',
    `Invalid amount: ${amount}, but it is not a number.`,
  ],
  [
    'GET /rate?coinFrom=BTC&networkFrom=BTC&coinTo=USDT&networkTo=TRX&amount=1e50',
    400,
    'parameter_invalid',
    `Invalid amount: ${amount}, but its exponent is beyond that.`,
  ],
  [
    `GET /rate?coinFrom=BTC&networkFrom=BTC&coinTo=USDT&networkTo=TRX&amount=${'9'.repeat(65)}`,
    400,
    'parameter_invalid',
    `Invalid amount: ${amount}, but it has 65 characters.`,
  ],
  [
    'GET /rate?coinFrom=BTC&networkFrom=BTC&coinTo=USDT&networkTo=TRX&amount=.5',
    400,
    'parameter_invalid',
    `Invalid amount: ${amount}, but it has no digit before the point.`,
  ],
  [
    'GET /rate?coinFrom=BTC&networkFrom=BTC&coinTo=USDT&networkTo=TRX&amount=01',
    400,
    'parameter_invalid',
    `Invalid amount: ${amount}, but it begins with a 0 before another digit.`,
  ],
  [
    'GET /rate?coinFrom=BTC&networkFrom=BTC&coinTo=USDT&networkTo=TRX&amount=',
    400,
    'parameter_invalid',
    `Invalid amount: ${amount}, but it is empty.`,
  ],
  [
    'GET /rate?coinFrom=BTC&networkFrom=BTC&coinTo=USDT&networkTo=TRX&amount=NaN',
    400,
    'parameter_invalid',
    `Invalid amount: ${amount}, but it is not a number.`,
  ],
  [
    'GET /rate?coinFrom=BTC&networkFrom=BTC&coinTo=USDT&networkTo=TRX&amount=0.0',
    400,
    'parameter_invalid',
    `Invalid amount: ${amount}, but it is 0.`,
  ],
  [
    'GET /rate?coinFrom=BTC&networkFrom=BTC&coinTo=USDT&networkTo=TRX&amount=1&rateType=FIXED',
    400,
    'parameter_invalid',
    'Invalid rateType: it must be fixed or float.',
  ],
  [
    'GET /rate?coinFrom=BTC&networkFrom=BTC&coinTo=USDT&networkTo=TRX&amount=1&rateType=market',
    400,
    'parameter_invalid',
    'Invalid rateType: it must be fixed or float.',
  ],
  [
    'GET /rate?from=BTC&to=ETH&amount=1',
    400,
    'parameter_unknown',
    'Invalid from: it is not a parameter here; its name is coinFrom. Invalid to: it is not a parameter here; its name is coinTo.',
  ],
  [
    'GET /rate?coin_from=BTC&coin_to=ETH&amount=1',
    400,
    'parameter_unknown',
    'Invalid coin_from: it is not a parameter here; its name is coinFrom. Invalid coin_to: it is not a parameter here; its name is coinTo.',
  ],
  [
    'GET /rate?coinFrom=BTC&networkFrom=BTC&coinTo=USDT&networkTo=TRX&fromAmount=1',
    400,
    'parameter_unknown',
    'Invalid fromAmount: it is not a parameter here; its name is amount.',
  ],
  [
    'GET /rate?coinFrom=BTC&networkFrom=BTC&coinTo=USDT&networkTo=TRX&amount_in=1',
    400,
    'parameter_unknown',
    'Invalid amount_in: it is not a parameter here; its name is amount.',
  ],
  [
    'GET /rate?coinFrom=BTC&networkFrom=BTC&coinTo=USDT&amount=1&coinToNetwork=TRX',
    400,
    'parameter_unknown',
    'Invalid coinToNetwork: it is not a parameter here; its name is networkTo.',
  ],
  [
    'GET /rate?coinFrom=BTC&networkFrom=BTC&coinTo=USDT&networkTo=TRX&ammount=2',
    400,
    'parameter_unknown',
    'Invalid ammount: it is not a parameter here; the nearest name is amount.',
  ],
  [
    'GET /rate?coinFrom=NOBODY&networkFrom=BTC&coinTo=USDT&networkTo=TRX&amount=1',
    400,
    'unknown_asset',
    'Invalid coinFrom: NOBODY is not a coin that can be swapped here.',
  ],
  [
    'GET /rate?coinFrom=BTX&networkFrom=BTC&coinTo=USDT&networkTo=TRX&amount=1',
    400,
    'unknown_asset',
    'Invalid coinFrom: BTX is not a coin that can be swapped here; the nearest name is BTC.',
  ],
  [
    'GET /rate?coinFrom=BTC&networkFrom=BTC&coinTo=USDTTRC20&networkTo=TRX&amount=1',
    400,
    'unknown_asset',
    'Invalid coinTo: USDTTRC20 is not a coin that can be swapped here: it is the coin USDT with networkTo TRX.',
  ],
  [
    'GET /rate?coinFrom=&networkFrom=BTC&coinTo=USDT&networkTo=TRX&amount=1',
    400,
    'parameter_invalid',
    'Invalid coinFrom: it must be a text, but it is empty.',
  ],
  [
    'GET /rate?coinFrom=%3Cscript%3E&networkFrom=BTC&coinTo=USDT&networkTo=TRX&amount=1',
    400,
    'unknown_asset',
    'Invalid coinFrom: it is not a coin that can be swapped here.',
  ],
  [
    'GET /rate?coinFrom=BTC&networkFrom=BTC&coinTo=BTC&networkTo=BTC&amount=1',
    400,
    'parameter_invalid',
    'Invalid coinTo: it must be another asset than the one that is paid.',
  ],
  [
    'GET /rate?coinFrom=BTC&networkFrom=BTC&coinTo=USDT&networkTo=BSC&amount=1',
    400,
    'network_unknown',
    'Invalid networkTo: it must be one of TRX, ETH.',
  ],
  [
    'GET /rate?coinFrom=BTC&networkFrom=BTC&coinTo=USDT&networkTo=&amount=1',
    400,
    'network_required',
    'Invalid networkTo: it is empty; it must be one of TRX, ETH.',
  ],
  [
    `POST /transactions {"coinFrom":"BTC","networkFrom":"BTC","coinTo":"USDT","networkTo":null,"amount":1,"withdrawalAddress":"${address}"}`,
    400,
    'network_required',
    'Invalid networkTo: it is empty; it must be one of TRX, ETH.',
  ],
  ['POST /transactions ', 400, 'body_invalid', 'The body must be a JSON object, but it is empty.'],
  ['POST /transactions nonsense', 400, 'body_invalid', 'The body must be a JSON object: not JSON at position 0.'],
  ['POST /transactions {"coinFrom":', 400, 'body_invalid', 'The body must be a JSON object: not JSON at position 12.'],
  ['POST /transactions []', 400, 'body_invalid', 'Invalid request: the body must be a JSON object, but it is a list.'],
  ['POST /transactions null', 400, 'body_invalid', 'Invalid request: the body must be a JSON object, but it is null.'],
  ['POST /transactions "x"', 400, 'body_invalid', 'Invalid request: the body must be a JSON object, but it is a text.'],
  [
    'POST /transactions {}',
    400,
    'parameter_invalid',
    'Invalid coinFrom: it is missing. Invalid coinTo: it is missing. Invalid networkFrom: it is missing. Invalid networkTo: it is missing. Invalid amount: it is missing. Invalid withdrawalAddress: it is missing.',
  ],
  [
    'POST /transactions {"amount":1,"amount":2}',
    400,
    'body_invalid',
    'The body must be a JSON object: duplicate key at position 20.',
  ],
  ['POST /transactions {"amount":1,}', 400, 'body_invalid', 'The body must be a JSON object: not JSON at position 12.'],
  ["POST /transactions {'amount':1}", 400, 'body_invalid', 'The body must be a JSON object: not JSON at position 1.'],
  [
    `POST /transactions {"coinFrom":"BTC","networkFrom":"BTC","coinTo":"USDT","networkTo":"TRX","withdrawalAddress":"${address}"}`,
    400,
    'parameter_invalid',
    'Invalid amount: it is missing.',
  ],
  [
    'POST /transactions {"coinFrom":"BTC","networkFrom":"BTC","coinTo":"USDT","networkTo":"TRX","amount":1}',
    400,
    'parameter_invalid',
    'Invalid withdrawalAddress: it is missing.',
  ],
  [
    `POST /transactions {"coinFrom":"BTC","networkFrom":"BTC","coinTo":"USDT","networkTo":"TRX","amount":true,"withdrawalAddress":"${address}"}`,
    400,
    'parameter_invalid',
    `Invalid amount: ${amount}, but it is true.`,
  ],
  [
    `POST /transactions {"coinFrom":"BTC","networkFrom":"BTC","coinTo":"USDT","networkTo":"TRX","amount":null,"withdrawalAddress":"${address}"}`,
    400,
    'parameter_invalid',
    `Invalid amount: ${amount}, but it is null.`,
  ],
  [
    `POST /transactions {"coinFrom":"BTC","networkFrom":"BTC","coinTo":"USDT","networkTo":"TRX","amount":[1],"withdrawalAddress":"${address}"}`,
    400,
    'parameter_invalid',
    `Invalid amount: ${amount}, but it is a list.`,
  ],
  [
    `POST /transactions {"coinFrom":"BTC","networkFrom":"BTC","coinTo":"USDT","networkTo":"TRX","amount":{"value":1},"withdrawalAddress":"${address}"}`,
    400,
    'parameter_invalid',
    `Invalid amount: ${amount}, but it is an object.`,
  ],
  [
    `POST /transactions {"coinFrom":"BTC","networkFrom":"BTC","coinTo":"USDT","networkTo":"TRX","amount":"ten","withdrawalAddress":"${address}"}`,
    400,
    'parameter_invalid',
    `Invalid amount: ${amount}, but it is not a number.`,
  ],
  [
    `POST /transactions {"coinFrom":"BTC","networkFrom":"BTC","coinTo":"USDT","networkTo":"TRX","amount":0,"withdrawalAddress":"${address}"}`,
    400,
    'parameter_invalid',
    `Invalid amount: ${amount}, but it is 0.`,
  ],
  [
    `POST /transactions {"coinFrom":"BTC","networkFrom":"BTC","coinTo":"USDT","networkTo":"TRX","amount":"1,5","withdrawalAddress":"${address}"}`,
    400,
    'parameter_invalid',
    `Invalid amount: ${amount}, but it has a comma; decimals follow a point, as in 0.5.`,
  ],
  [
    `POST /transactions {"coinFrom":"BTC","networkFrom":"BTC","coinTo":"USDT","networkTo":"TRX","amount":-1,"withdrawalAddress":"${address}"}`,
    400,
    'parameter_invalid',
    `Invalid amount: ${amount}, but it is negative.`,
  ],
  [
    'POST /transactions {"coinFrom":"BTC","networkFrom":"BTC","coinTo":"USDT","networkTo":"TRX","amount":1,"withdrawalAddress":5}',
    400,
    'address_invalid',
    'Invalid withdrawalAddress: it must be an address of 1 to 256 ASCII characters without spaces, but it is a number; please put it in quotes.',
  ],
  [
    'POST /transactions {"coinFrom":"BTC","networkFrom":"BTC","coinTo":"USDT","networkTo":"TRX","amount":1,"withdrawalAddress":""}',
    400,
    'address_invalid',
    'Invalid withdrawalAddress: it must be an address of 1 to 256 ASCII characters without spaces, but it is empty.',
  ],
  [
    'POST /transactions {"coinFrom":"BTC","networkFrom":"BTC","coinTo":"USDT","networkTo":"TRX","amount":1,"withdrawalAddress":"a b"}',
    400,
    'address_invalid',
    'Invalid withdrawalAddress: it must be an address of 1 to 256 ASCII characters without spaces.',
  ],
  [
    'POST /transactions {"coinFrom":"BTC","networkFrom":"BTC","coinTo":"USDT","networkTo":"TRX","amount":1,"withdrawalAddress":null}',
    400,
    'address_invalid',
    'Invalid withdrawalAddress: it must be an address of 1 to 256 ASCII characters without spaces, but it is null.',
  ],
  [
    `POST /transactions {"coinFrom":"BTC","networkFrom":"BTC","coinTo":"USDT","networkTo":"TRX","amount":1,"withdrawalAddress":"${address}","withdrawalExtraId":7}`,
    400,
    'memo_invalid',
    'Invalid withdrawalExtraId: it must be a text of at most 1000 characters without control characters, but it is a number; please put it in quotes.',
  ],
  [
    `POST /transactions {"coinFrom":"BTC","networkFrom":"BTC","coinTo":"USDT","networkTo":"TRX","amount":1,"withdrawalAddress":"${address}","withdrawalExtraId":"a\\nb"}`,
    400,
    'memo_invalid',
    'Invalid withdrawalExtraId: it must be a text of at most 1000 characters without control characters.',
  ],
  [
    `POST /transactions {"coinFrom":"BTC","networkFrom":"BTC","coinTo":"USDT","networkTo":"TRX","amount":1,"withdrawalAddress":"${address}","withdrawalExtraId":"12"}`,
    400,
    'memo_invalid',
    'Invalid withdrawalExtraId: extra ids are not supported here, and one that is lost loses the funds.',
  ],
  [
    `POST /transactions {"coinFrom":"BTC","networkFrom":"BTC","coinTo":"USDT","networkTo":"TRX","amount":1,"withdrawalAddress":"${address}","rateType":1}`,
    400,
    'parameter_invalid',
    'Invalid rateType: it must be fixed or float, but it is a number.',
  ],
  [
    `POST /transactions {"coinFrom":"BTC","networkFrom":"BTC","coinTo":"USDT","networkTo":"TRX","amount":1,"withdrawalAddress":"${address}","rateType":"Float"}`,
    400,
    'parameter_invalid',
    'Invalid rateType: it must be fixed or float.',
  ],
  [
    `POST /transactions {"coinFrom":5,"networkFrom":"BTC","coinTo":"USDT","networkTo":"TRX","amount":1,"withdrawalAddress":"${address}"}`,
    400,
    'parameter_invalid',
    'Invalid coinFrom: it must be a text, but it is a number; please put it in quotes.',
  ],
  [
    `POST /transactions {"networkFrom":"BTC","coinTo":"USDT","networkTo":"TRX","amount":1,"withdrawalAddress":"${address}","coin_from":"BTC"}`,
    400,
    'parameter_unknown',
    'Invalid coin_from: it is not a parameter here; its name is coinFrom.',
  ],
  [
    `POST /transactions {"coinFrom":"BTC","networkFrom":"BTC","coinTo":"USDT","networkTo":"TRX","amount":1,"withdrawal_address":"${address}"}`,
    400,
    'parameter_unknown',
    'Invalid withdrawal_address: it is not a parameter here; its name is withdrawalAddress.',
  ],
  [
    `POST /transactions {"coinFrom":"BTC","networkFrom":"BTC","coinTo":"USDT","networkTo":"TRX","amount":1,"address":"${address}"}`,
    400,
    'parameter_unknown',
    'Invalid address: it is not a parameter here; its name is withdrawalAddress.',
  ],
  [
    `POST /transactions {"coinFrom":"BTC","networkFrom":"BTC","coinTo":"USDT","networkTo":"TRX","amount":1,"withdrawalAddress":"${address}","memo":"1"}`,
    400,
    'parameter_unknown',
    'Invalid memo: it is not a parameter here; its name is withdrawalExtraId.',
  ],
  [
    `POST /transactions {"coinFrom":"BTC","networkFrom":"BTC","coinTo":"USDT","networkTo":"TRX","amount":1,"withdrawalAddress":"${address}","comment":"hi"}`,
    400,
    'parameter_unknown',
    'Invalid comment: it is not a parameter here; the parameters are coinFrom, coinTo, networkFrom, networkTo, amount, amountTo, withdrawalAddress, withdrawalExtraId, refundAddress, refundExtraId, rateType, quoteId.',
  ],
  [
    `POST /transactions?amount=1 {"coinFrom":"BTC","networkFrom":"BTC","coinTo":"USDT","networkTo":"TRX","amount":1,"withdrawalAddress":"${address}"}`,
    400,
    'parameter_unknown',
    'Invalid amount: it is not a parameter here; it belongs in the JSON body.',
  ],
  [
    `POST /transactions?foo=1 {"coinFrom":"BTC","networkFrom":"BTC","coinTo":"USDT","networkTo":"TRX","amount":1,"withdrawalAddress":"${address}"}`,
    400,
    'parameter_unknown',
    'Invalid foo: it is not a parameter here; there are none.',
  ],
  [
    `POST /transactions {"coinFrom":"BTC","networkFrom":"BTC","networkTo":"TRX","amount":"x","withdrawalAddress":"${address}","rateType":"x","foo":1}`,
    400,
    'parameter_invalid',
    `Invalid amount: ${amount}, but it is not a number. Invalid rateType: it must be fixed or float. Invalid foo: it is not a parameter here; the parameters are coinFrom, coinTo, networkFrom, networkTo, amount, amountTo, withdrawalAddress, withdrawalExtraId, refundAddress, refundExtraId, rateType, quoteId. Invalid coinTo: it is missing.`,
  ],
  [
    `POST /transactions {"coinFrom":"BTC","networkFrom":"BTC","coinTo":"USDT","amount":1,"withdrawalAddress":"${address}"}`,
    400,
    'network_required',
    'Invalid networkTo: it is missing; it must be one of TRX, ETH.',
  ],
  [
    `POST /transactions {"coinFrom":"BTC","coinTo":"USDT","amount":1,"withdrawalAddress":"${address}"}`,
    400,
    'network_required',
    'Invalid networkFrom: it is missing; it must be one of BTC. Invalid networkTo: it is missing; it must be one of TRX, ETH.',
  ],
  [
    `POST /transactions {"coinFrom":"BTC","networkFrom":"BTC","coinTo":"USDT","networkTo":"BSC","amount":1,"withdrawalAddress":"${address}"}`,
    400,
    'network_unknown',
    'Invalid networkTo: it must be one of TRX, ETH.',
  ],
  [
    `POST /transactions {"coinFrom":"BTC","networkFrom":"BTC","coinTo":"USDT","networkTo":5,"amount":1,"withdrawalAddress":"${address}"}`,
    400,
    'parameter_invalid',
    'Invalid networkTo: it must be a text, but it is a number; please put it in quotes.',
  ],
  [
    `POST /transactions {"coinFrom":"BTC","networkFrom":"BTC","coinTo":"NOBODY","networkTo":"TRX","amount":1,"withdrawalAddress":"${address}"}`,
    400,
    'unknown_asset',
    'Invalid coinTo: NOBODY is not a coin that can be swapped here.',
  ],
  [
    `POST /transactions {"coinFrom":"BTC","networkFrom":"BTC","coinTo":"USDTTRC20","networkTo":"TRX","amount":1,"withdrawalAddress":"${address}"}`,
    400,
    'unknown_asset',
    'Invalid coinTo: USDTTRC20 is not a coin that can be swapped here: it is the coin USDT with networkTo TRX.',
  ],
  [
    `POST /transactions {"coinFrom":"BTC","networkFrom":"BTC","coinTo":"USDT","networkTo":"TRX","amount":1,"withdrawalAddress":"${address}"}`,
    415,
    'media_type',
    'The body must be sent once as content-type application/json in UTF-8.',
    { ...keyOfB, 'content-type': 'text/plain' },
  ],
  [`POST /transactions {"x":"${'y'.repeat(20_000)}"}`, 413, 'too_large', 'The body must have at most 16384 bytes.'],
  [
    `POST /transactions {"coinFrom":"BTC","networkFrom":"BTC","coinTo":"USDT","networkTo":"TRX","amount":1,"withdrawalAddress":"${address}"}`,
    400,
    'parameter_invalid',
    'Invalid Idempotency-Key: it must be sent once, as 1 to 255 visible ASCII characters, in quotes or without.',
    { ...keyOfB, 'idempotency-key': 'a b' },
  ],
  [
    `POST /transactions {"coinFrom":"BTC","networkFrom":"BTC","coinTo":"USDT","networkTo":"TRX","amount":1,"withdrawalAddress":"${address}"}`,
    400,
    'parameter_invalid',
    'Invalid Idempotency-Key: it must be sent once, as 1 to 255 visible ASCII characters, in quotes or without.',
    { ...keyOfB, 'idempotency-key': '' },
  ],
  [`GET /currencies?search=${'x'.repeat(9_000)}`, 414, 'too_large', 'The path and query must have at most 8192 characters.'],
  ['GET /currencies', 417, 'parameter_invalid', 'Only Expect: 100-continue is understood.', { ...keyOfB, expect: 'a-miracle' }],
  [
    'GET /transactions?dateFrom=yesterday',
    400,
    'parameter_invalid',
    'Invalid dateFrom: it must be an RFC 3339 timestamp with a zone, or a date YYYY-MM-DD.',
  ],
  [
    'GET /transactions?dateFrom=2026-02-01&dateTo=2026-01-01',
    400,
    'parameter_invalid',
    'Invalid dateFrom: it must not be after the last date.',
  ],
  ['GET /transactions?size=1000', 400, 'parameter_invalid', 'Invalid size: it must be an integer from 1 to 100.'],
  [
    'GET /transactions?state=done&updated=2026-01-01',
    400,
    'parameter_unknown',
    'Invalid state: it is not a parameter here; its name is status. Invalid updated: it is not a parameter here; the parameters are page, size, dateFrom, dateTo, status, updatedSince.',
  ],
  [
    'GET /transactions?status=sending&updatedSince=yesterday',
    400,
    'parameter_invalid',
    'Invalid status: it must be one of wait, confirmation, exchanging, success, overdue, refunded. Invalid updatedSince: it must be an RFC 3339 timestamp with a zone, or a date YYYY-MM-DD.',
  ],
  ['GET /pairs/NOBODY/BTC', 400, 'unknown_asset', 'Invalid from: NOBODY is not a coin that can be swapped here.'],
  [
    'GET /transactions?date_from=2026-01-01',
    400,
    'parameter_unknown',
    'Invalid date_from: it is not a parameter here; its name is dateFrom.',
  ],
  ['GET /transactions/alpha~missing', 404, 'not_found', 'Transaction not found'],
  ['GET /transactions/xyz', 404, 'not_found', 'Transaction not found.'],
  [
    'GET /transactions/alpha~tx-1?verbose=1',
    400,
    'parameter_unknown',
    'Invalid verbose: it is not a parameter here; there are none.',
  ],
  [
    'GET /rate?x&x&',
    400,
    'parameter_unknown',
    'Invalid x: it is not a parameter here; the parameters are coinFrom, coinTo, amount, amountTo, rateType, networkFrom, networkTo, quoteId. Invalid request: the query has a parameter without a name, for example between two & in a row. Invalid coinFrom: it is missing. Invalid coinTo: it is missing. Invalid amount: it is missing.',
  ],
]

const cases: Readonly<Record<FormName, readonly Case[]>> = { A: inFormA, B: inFormB }

describe.each(formNames)('client %s', (form) => {
  let pair: Pair
  beforeAll(async () => {
    const limits = { quotes: 1_000, create: 1_000, read: 1_000, unverified: 1_000 }
    pair = await startPair(form, form, { sections: { defaultForm: form, limits } })
    expect((await pair.client.get('/transactions', { key: clientKey })).status).toBe(200) // a key that is known to be good
  })
  beforeEach(() => {
    pair.provider.holdings.swaps = [swap()]
  })
  afterAll(() => pair.close())

  const send = ([request, , , , headers = credential(form, clientKey)]: Case): Promise<ReceivedResponse> => {
    const [, method = '', at = '', body = ''] = /^(\S+) (\S*) ?(.*)$/s.exec(request) ?? []
    const path = at.startsWith('@') ? at.slice(1) : `/${form.toLowerCase()}/api/v2${at}`
    const hasBody = method === 'POST' && at.startsWith('/transactions')
    return pair.witness.sendRequest(pair.gateway.url, {
      method,
      path,
      headers: { ...(hasBody && { 'content-type': 'application/json' }), ...headers },
      ...(hasBody && { body }),
    })
  }

  test.each(cases[form].map((row) => [row[0].slice(0, 200), row] as const))('%s', async (_, row) => {
    const [, status, reason, sentence] = row
    expect(expectRefusal(await send(row), form, status, reason)).toBe(sentence)
    expect(pair.provider.received('create')).toEqual([])
  })

  test('there are at least 70 of them', () => {
    expect(cases[form].length).toBeGreaterThanOrEqual(70)
  })

  test('all faults of a request are in one message, and each is listed for programs', async () => {
    const body = { withdrawalAddress: '', amount: 'x', coin_from: 'BTC' }
    const response = await pair.client.post('/transactions', body, { key: clientKey })
    const message = expectRefusal(response, form, 400, 'address_invalid')
    const { errors } = response.json as { readonly errors: readonly object[] }
    const fault = (field: string, reason: Reason, text: string): object => ({
      field,
      reason,
      message: `Invalid ${field}: ${text}.`,
    })
    const spoken = form === 'A' ? [] : (['networkFrom', 'networkTo'] as const)
    expect(errors).toEqual([
      fault(
        'withdrawalAddress',
        'address_invalid',
        'it must be an address of 1 to 256 ASCII characters without spaces, but it is empty',
      ),
      fault('amount', 'parameter_invalid', `${amount}, but it is not a number`),
      fault('coin_from', 'parameter_unknown', 'it is not a parameter here; its name is coinFrom'),
      fault('coinTo', 'parameter_invalid', 'it is missing'),
      ...spoken.map((field) => fault(field, 'network_required', 'it is missing')),
    ])
    expect(message).toContain('Invalid coin_from')
  })

  test('what only the asset table or the provider knows is listed in the same way', async () => {
    const unknown = await pair.client.get(
      rateQuery(form, { from: { ...assets.btc, code: 'BTX', coin: 'BTX' }, to: assets.eth, amount: '1' }),
    )
    const message = expectRefusal(unknown, form, 400, 'unknown_asset')
    expect(unknown.json).toMatchObject({ errors: [{ field: 'coinFrom', reason: 'unknown_asset', message }] })
  })

  test('two coins that are not there are named together', async () => {
    const words = { ...assets.btc, code: 'NOBODY', coin: 'NOBODY' }
    const unknown = await pair.client.get(
      rateQuery(form, { from: words, to: { ...words, code: 'NOONE', coin: 'NOONE' }, amount: '1' }),
    )
    expect(expectRefusal(unknown, form, 400, 'unknown_asset')).toBe(
      'Invalid coinFrom: NOBODY is not a coin that can be swapped here. Invalid coinTo: NOONE is not a coin that can be swapped here.',
    )
    expect(unknown.json).toMatchObject({ errors: [{ field: 'coinFrom' }, { field: 'coinTo' }] })
  })

  test('so are two addresses that their networks do not have', async () => {
    const assetTable = ['BTC', 'ETH'].map((word) => ({
      coin: word,
      name: word,
      networks: [{ network: word, code: word, address: { format: word } }],
    }))
    const decoding = await startPair(form, form, { assetTable })
    const body = { ...pairWords(form, assets.btc, assets.eth), amount: 1, withdrawalAddress: 'w', refundAddress: 'r' }
    const response = await decoding.client.post('/transactions', body)
    await decoding.close()
    expect(expectRefusal(response, form, 400, 'address_invalid')).toBe(
      'Invalid withdrawalAddress: it is no address of ETH on the network ETH. Invalid refundAddress: it is no address of BTC on the network BTC.',
    )
  })

  test('a key that the provider refuses is not valid, and no format is recommended', async () => {
    pair.provider.reply('list', { status: 401, json: { error: 'Unauthorized', message: 'no', code: 401 } })
    const response = await pair.client.get('/transactions', { key: clientKey })
    pair.provider.reset()
    expect(expectRefusal(response, form, 401, 'key_invalid')).toBe('The API key is not valid.')
  })

  const limits: readonly (readonly [string, string, string | null, Reason, RegExp])[] = [
    [
      'quotes',
      '/currencies',
      null,
      'limited',
      /^Too many requests: the limit is 1 quotes in 60 seconds; please wait (\d+) seconds\.$/,
    ],
    [
      'read',
      '/transactions',
      clientKey,
      'limited',
      /^Too many requests: the limit is 1 reads of swaps in 60 seconds; please wait (\d+) seconds\.$/,
    ],
    [
      'unverified',
      '/transactions',
      null,
      'unverified_limited',
      /^Too many requests: the limit is 20 requests without a key that is known to be good in 60 seconds; please wait (\d+) seconds\.$/,
    ],
  ]
  test.each(limits)(
    'past the limit of %s the message has the limit and the seconds to wait',
    async (_, path, key, reason, sentence) => {
      const tight = await startPair(form, form, { sections: { limits: { quotes: 1, read: 1 } } })
      let response = await tight.client.get(path, { key })
      for (let sent = 1; sent <= 20 && response.status !== 429; sent++) response = await tight.client.get(path, { key })
      await tight.close()
      const [, seconds] = sentence.exec(expectRefusal(response, form, 429, reason)) ?? []
      expect(seconds).toBe(response.headers['retry-after'])
    },
  )
})
