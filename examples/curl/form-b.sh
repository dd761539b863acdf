#!/usr/bin/env bash
# A whole swap in Form B with curl: bash examples/curl/form-b.sh, with the gateway running (npm start).
# SWAPGATE_URL and SANDBOX_URL name other places, SWAPGATE_KEY another key.
set -euo pipefail
base="${SWAPGATE_URL:-http://127.0.0.1:8080}/b/api/v2"
sandbox="${SANDBOX_URL:-http://127.0.0.1:9101}"
credential="X-API-Key: ${SWAPGATE_KEY:-sandbox-key-1}"
json='Content-Type: application/json'
# ask: waits, asks again, and ends with an error if it is not a 2xx.
. "$(dirname "$0")/ask.sh"

echo '# What would I receive?'
ask "$base/rate?coinFrom=BTC&networkFrom=BTC&coinTo=USDT&networkTo=TRX&amount=0.10"

echo '# Create a swap, and ask again as after a broken connection: it is the same one'
key="order-$(date +%s)-$$"
create() {
  ask "$base/transactions" -H "$credential" -H "$json" -H "Idempotency-Key: $key" \
    -d '{ "coinFrom": "BTC", "networkFrom": "BTC", "coinTo": "USDT", "networkTo": "TRX", "amount": 0.10,
          "withdrawalAddress": "TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE" }'
}
swap=$(create)
echo "$swap"
create

echo '# Pay it (in the sandbox), and wait until it is complete'
curl --silent --show-error --fail-with-body "$sandbox/sandbox/deposits" -H "$json" -d "{ \"depositAddress\": \"$(field "$swap" deposit_address)\" }"
echo
wait_for_the_end "$base/transactions/$(field "$swap" id)" -H "$credential"

echo '# Your swaps'
ask "$base/transactions?size=1" -H "$credential"

echo '# A mistake is named: X-Swap-Reason for programs, the message for people'
curl --silent --show-error --include "$base/rate?coinFrom=BTC&coinTo=NOBODY&amount=0.10" | tr -d '\r' | grep -iE '^(x-swap-reason|\{)'
