/** nginx: as a provider that costs almost nothing, and with Lua as a gateway that translates and does nothing else. */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { currenciesA, currenciesB, transactionA } from './responses.ts'
import { transaction } from './transaction.ts'

/** Arguments of a process in the foreground that serves the configuration. */
function nginx(modules: string, http: string): readonly string[] {
  const directory = mkdtempSync(join(tmpdir(), 'swapgate-bench-nginx-'))
  const file = join(directory, 'nginx.conf')
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${directory}/${name};`)
  const text = `
${modules}
daemon off;
master_process off;
pid ${directory}/pid;
error_log ${directory}/error.log;
events { worker_connections 4096; }
http {
  access_log off;
  default_type application/json;
  keepalive_requests 1000000000;
  keepalive_timeout 600s;
  ${paths.join('\n  ')}
${http}
}`
  writeFileSync(file, text)
  return ['nginx', '-c', file, '-e', `${directory}/error.log`]
}

const quoted = (value: unknown): string => `'${JSON.stringify(value)}'`

/** A quote returns the amount of its request, so each can be another one. */
const rateA = `'{"coinFrom":"BTC","coinTo":"ETH","amount":$arg_amount,"amountTo":15.5,"rate":15.5,"minAmount":0.0001,"maxAmount":1000000,"fee":0,"rateType":"float"}'`
const rateB = `'{"fromAmount":$arg_amount,"toAmount":15.5,"rate":15.5,"minAmount":0.0001,"maxAmount":1000000,"message":null}'`

/** Providers of Form A and of Form B, on two ports. */
export function providers(portA: number, portB: number): readonly string[] {
  return nginx(
    '',
    `
  server {
    listen 127.0.0.1:${portA};
    location /api/v2/transactions/ { return 200 ${quoted(transactionA)}; }
    location /api/v2/rate { return 200 ${rateA}; }
    location /api/v2/currencies { return 200 ${quoted({ data: currenciesA, pagination: { page: 1, size: 100, total: currenciesA.length } })}; }
  }
  server {
    listen 127.0.0.1:${portB};
    location /api/v2/transactions/ { return 200 ${quoted(transaction)}; }
    location /api/v2/rate { return 200 ${rateB}; }
    location /api/v2/currencies { return 200 ${quoted({ data: currenciesB, count: currenciesB.length })}; }
  }`,
  )
}

/** A get of a transaction of Form B, translated for a client of Form A. */
export function translating(port: number, provider: number): readonly string[] {
  const modules = ['ndk_http_module', 'ngx_http_lua_module'].map((name) => `load_module /usr/lib/nginx/modules/${name}.so;`)
  return nginx(
    modules.join('\n'),
    `
  upstream provider { server 127.0.0.1:${provider}; keepalive 64; keepalive_requests 1000000000; }
  init_by_lua_block {
    cjson = require "cjson.safe"
    codes = { ["BTC/BTC"] = "BTC", ["USDT/TRX"] = "USDTTRC20", ["ETH/ETH"] = "ETH" }
  }
  server {
    listen 127.0.0.1:${port};
    location /provider/ {
      internal;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Authorization "";
      proxy_set_header X-API-Key $key;
      proxy_pass http://provider/;
    }
    location /a/api/v2/ {
      set $key "";
      content_by_lua_block {
        ngx.var.key = string.sub(ngx.var.http_authorization or "", 8)
        local answer = ngx.location.capture("/provider" .. string.sub(ngx.var.uri, 3))
        local found = cjson.decode(answer.body)
        ngx.status = answer.status
        ngx.say(cjson.encode({
          id = found.id, status = found.status,
          coinFrom = codes[found.coin_from .. "/" .. found.network_from],
          coinTo = codes[found.coin_to .. "/" .. found.network_to],
          amount = found.amount_in, amountTo = found.amount_out, rate = found.rate, rateType = found.rate_type,
          depositAddress = found.deposit_address, withdrawalAddress = found.withdrawal_address,
          refundAddress = found.refund_address, createdAt = found.created_at, updatedAt = found.created_at,
        }))
      }
    }
  }`,
  )
}
